/**
 * Where a stream stands, over all its connections: what to send as `Last-Event-ID`, and which items were here before. Ids of ours are numbers
 * that rise within a task; ids of others may be anything, then they are only sent back.
 */
export class StreamCursor {
  #id: string | undefined;
  #seq = -1;
  /** Where the present connection began: nothing at or below it is new. */
  #floor = -1;

  constructor(id: string | undefined) {
    if (id !== undefined) this.#move(id);
  }

  /** The id of the last item that was taken. */
  get id(): string | undefined {
    return this.#id;
  }

  /** A new connection goes on from here. */
  connect(): void {
    this.#floor = this.#seq;
  }

  /** True if this connection, or one before it, has brought an item at or above this place already. An event without an id of its own has the id of the one before it, so an equal one is no repeat. */
  hasSeen(id: string | undefined): boolean {
    const seq = toSeq(id);
    return seq !== undefined && (seq <= this.#floor || seq < this.#seq);
  }

  /** An item was taken. */
  advance(id: string | undefined): void {
    if (id !== undefined) this.#move(id);
  }

  /** A snapshot was taken: it begins anew, whatever came before, also where a server counts anew with each connection. */
  reset(id: string | undefined): void {
    this.#id = undefined;
    this.#seq = -1;
    this.#floor = -1;
    this.advance(id);
  }

  #move(id: string): void {
    this.#id = headerSafe.test(id) ? id : undefined; // an empty one says that there is none any more
    this.#seq = toSeq(id) ?? -1;
  }
}

/** What can be sent as a header's value, whatever a server has sent as an id. */
const headerSafe = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/;

function toSeq(id: string | undefined): number | undefined {
  return id !== undefined && /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
