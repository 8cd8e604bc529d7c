import { cancel } from './cancel.ts';
import { chunks } from './chunks.ts';
import { durable } from './durable.ts';
import type { Bench } from './figures.ts';
import { remote } from './remote.ts';
import { replicas } from './replicas.ts';
import { history } from './history.ts';
import { parse } from './parse.ts';
import { send } from './send.ts';
import { subscribers } from './subscribers.ts';
import { takeover } from './takeover.ts';

/** What can be measured, by the name `npm run bench -- NAME` takes, in the order of the table. */
export const benches: Readonly<Record<string, Bench>> = {
  chunks,
  send,
  durable,
  remote,
  cancel,
  takeover,
  replicas,
  subscribers,
  parse,
  history,
};
