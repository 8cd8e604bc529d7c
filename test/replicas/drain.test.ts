import { describe, expect, test } from 'vitest';
import { collect, eventually, openStage, partsOf, standing, statesOf } from './support.ts';

const DRAIN_MS = 3_000;
const flags = (onLost: string, drainMs = DRAIN_MS) => ['--on-lost', onLost, '--drain-ms', String(drainMs)];

describe('SIGTERM', () => {
  test.each([
    ['fail', 'TASK_STATE_FAILED'],
    ['ask', 'TASK_STATE_INPUT_REQUIRED'],
    ['retry', 'TASK_STATE_COMPLETED'],
  ] as const)(
    'in the middle of a turn settles it by onLost %s: %s on every replica, and the process ends with 0 in time (case 98)',
    async (onLost, state) => {
      await using stage = await openStage({ flags: flags(onLost) });
      stage.rig.recordLag();
      const [a, b] = [stage.probe(0), stage.probe(1)];
      const { id } = await a.sendForTask('emit 2 1; silent 6000; done', { returnImmediately: true });
      await eventually('the chunks', async () => partsOf(await b.get(id)).length === 2);
      const onB = collect(b.subscribe(id), ({ item }) => 'statusUpdate' in item && item.statusUpdate.status.state === state);
      const asked = Date.now();
      stage.history.record({ kind: 'leave', at: asked, observer: 'test', replica: 'A' });
      const end = await stage.rig.terminate(0);
      expect(end).toEqual({ code: 0, signal: undefined });
      expect(stage.rig.lag.fairMs(asked, Date.now())).toBeLessThan(DRAIN_MS + 2_000);
      expect(statesOf(await onB).at(-1)).toBe(state);
      for (const probe of stage.probes()) expect((await standing(probe, id, state)).status.state).toBe(state);
      expect(partsOf(await b.get(id))).toEqual(['1 ', '2 ']);
      expect((await stage.verdict()).violations).toEqual([]);
    },
  );

  test('lets a turn end that ends in time: its stream and its blocking caller get all of it', async () => {
    await using stage = await openStage({ replicas: 2, flags: flags('fail', 60_000) });
    const a = stage.probe(0);
    const streaming = collect(a.stream('emit 10 80; done'));
    const blocking = a.sendForTask('emit 5 100; done');
    await eventually('both runs', async () => (await stage.rig.effects()).filter(({ what }) => what === 'start').length === 2);
    stage.history.record({ kind: 'leave', at: Date.now(), observer: 'test', replica: 'A' });
    const asked = Date.now();
    const ending = stage.rig.terminate(0);
    expect(statesOf(await streaming).at(-1)).toBe('TASK_STATE_COMPLETED');
    expect((await blocking).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await ending).code).toBe(0);
    expect(Date.now() - asked).toBeLessThan(30_000); // it does not wait for what is not there
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('closes the streams of turns that do not end, without an end event, and others go on with them elsewhere', async () => {
    await using stage = await openStage({ flags: flags('retry') });
    const [a, b, c] = [stage.probe(0), stage.probe(1), stage.probe(2)];
    const { id } = await b.sendForTask('emit 3 1; silent 6000; done', { returnImmediately: true }); // held by B, followed on A
    await eventually('the chunks', async () => partsOf(await c.get(id)).length === 3);
    const onA = collect(a.subscribe(id, { reader: 'reader' }));
    await eventually('the snapshot', () => stage.history.facts.some((fact) => fact.kind === 'item' && fact.observer === 'reader'));
    stage.history.record({ kind: 'leave', at: Date.now(), observer: 'test', replica: 'A' });
    expect((await stage.rig.terminate(0)).code).toBe(0);
    const seen = await onA;
    expect(statesOf(seen)).toEqual(['TASK_STATE_WORKING']);
    const rest = await collect(c.subscribe(id, { reader: 'reader', after: seen.at(-1)?.seq ?? 0 }));
    expect(statesOf(rest)).toEqual(['TASK_STATE_COMPLETED']); // B was not touched: it is still the first run
    expect((await stage.verdict()).violations).toEqual([]);
  });

  test('tells a load balancer at once, and takes nothing new', async () => {
    await using stage = await openStage({ replicas: 2, flags: flags('fail') });
    const { url } = stage.rig.replica(0);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const open = await fetch(`${url}/healthz`);
    expect(open.status).toBe(200);
    await stage.probe(0).sendForTask('silent 1500; done', { returnImmediately: true });
    const ending = stage.rig.terminate(0);
    await eventually('the listener to close', async () =>
      fetch(`${url}/readyz`).then(
        (answer) => answer.status === 503,
        () => true,
      ),
    );
    expect((await ending).code).toBe(0);
  });
});
