import { memory } from '../../agent/memory.ts';
import type { Clock } from '../../ground/clock.ts';
import { silentLogger } from '../../ground/logger.ts';
import type { Store, StoreSource } from '../../log/store.ts';
import type { Chance } from './chance.ts';

/** What all replicas of a lab share: a store each over the same tasks. */
export class Medium {
  readonly #source: StoreSource;
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #opened: Store[] = [];

  constructor(source: StoreSource = memory(), { clock, chance }: { readonly clock: Clock; readonly chance: Chance }) {
    this.#source = source;
    this.#clock = clock;
    this.#chance = chance;
  }

  get name(): string {
    return this.#source.name;
  }

  /**
   * A store of its own for one replica, started: a driver that has to be loaded first is loaded while the lab's time stands still. Its clock
   * is the store's own, which no replica can set wrong. The source's wake is left alone: the lab has one that can lose hints.
   */
  async open(name: string): Promise<Store> {
    const random = this.#chance.fork(`${name} store`);
    const { store } = this.#source.open({ clock: this.#clock, random, logger: silentLogger });
    await store.start();
    this.#opened.push(store);
    return store;
  }

  async close(): Promise<void> {
    for (const store of this.#opened.splice(0)) await store.stop();
  }
}
