import { isA2AError } from '../../src/protocol/errors.ts';
import { taskIdOf } from '../../src/testing/probe.ts';
import type { RuleName } from './reached.ts';
import { isLoss, isTrouble, wasGivenBack } from './user.ts';
import type { User } from './user.ts';
import { pause } from './waits.ts';

/** Something a user does, and which rules it is there for. */
export interface Errand {
  readonly meets: readonly RuleName[];
  run(user: User): Promise<void>;
}

/** What users do, all at once. */
export const errands: readonly Errand[] = [
  { meets: ['lateSubscriber'], run: sendAndFollow },
  { meets: ['cut', 'reconnectWithCursor'], run: streamWithCuts },
  { meets: ['resumed'], run: askAndResume },
  { meets: ['resumeRace'], run: raceResumes },
  { meets: ['cancelWon'], run: startAndCancel },
  { meets: ['cancelWon', 'cancelLost'], run: cancelAtTheEnd },
  { meets: ['repeatedKey', 'keyWithOtherContent'], run: repeatUnderItsKey },
  { meets: ['handOver', 'inboxTaken'], run: enqueue },
  { meets: ['interrupt'], run: interrupt },
  { meets: ['refusedWhileWorking'], run: beRefused },
  { meets: ['heldForAuth'], run: signIn },
];

async function sendAndFollow(user: User): Promise<void> {
  const taskId = await user.start(`work; emit ${user.some(30)} ${user.some(10)}; done`);
  if (taskId !== undefined) await user.follow(taskId);
}

async function streamWithCuts(user: User): Promise<void> {
  const reader = user.reader();
  let taskId: string | undefined;
  let seq = 0;
  const leaveAfter = user.some(25);
  let seen = 0;
  for await (const one of user.probe().stream(`emit ${10 + user.some(40)} ${user.some(12)}; done`, { reader })) {
    taskId = taskIdOf(one.item);
    seq = one.seq ?? seq;
    if (taskId !== undefined && wasGivenBack(one.item)) user.answer(taskId);
    if (++seen >= leaveAfter) break;
  }
  user.parts.reached.add('cut');
  if (taskId !== undefined) await user.follow(taskId, { reader, seq });
}

/** A task that asks, as of its question; undefined if it was lost before. */
async function asked(user: User): Promise<string | undefined> {
  const response = await user.send(`emit ${user.some(5)} 1; ask and then?`);
  if (!('task' in response) || response.task.status.state !== 'TASK_STATE_INPUT_REQUIRED') return undefined;
  return response.task.id;
}

async function askAndResume(user: User): Promise<void> {
  const taskId = await asked(user);
  if (taskId === undefined) return;
  await user.attended(taskId, async () => {
    await user.send(`work on; emit ${user.some(20)} 2; done`, { taskId, returnImmediately: true });
    user.parts.reached.add('resumed');
  });
}

/** Two answers at once: one opens the turn; the other waits behind it or is refused, as the replica that takes it says. */
async function raceResumes(user: User): Promise<void> {
  const taskId = await asked(user);
  if (taskId === undefined) return;
  await user.attended(taskId, async () => {
    const answers = [1, 2].map((number) =>
      user
        .send(`work ${number}; emit ${user.some(10)} 2; done`, { taskId, returnImmediately: true })
        .then(() => true)
        .catch((error: unknown) => {
          if (isA2AError(error) && error.code === 'UNSUPPORTED_OPERATION') return false;
          throw error;
        }),
    );
    const taken = await Promise.all(answers);
    // both refused is right only if somebody else ended the task: nobody does
    if (!taken.includes(true)) {
      user.parts.complain({ promise: 'P5', taskId, says: 'two answers to a question were both refused' });
    }
    user.parts.reached.add('resumeRace');
  });
}

async function startAndCancel(user: User): Promise<void> {
  const taskId = await user.start(`emit ${100 + user.some(200)} ${user.some(5)}; done`);
  if (taskId === undefined) return;
  await cancelAfter(user, taskId, user.some(400));
}

/** Cancels about when the task ends by itself: whoever comes first wins, and all agree. */
async function cancelAtTheEnd(user: User): Promise<void> {
  const chunks = user.some(10);
  const taskId = await user.start(`emit ${chunks} 5; done`);
  if (taskId === undefined) return;
  await cancelAfter(user, taskId, user.some(10 + chunks * 10));
}

async function cancelAfter(user: User, taskId: string, ms: number): Promise<void> {
  const followed = user.following(taskId);
  try {
    await pause(ms);
    user.parts.reached.add((await user.cancel(taskId)) ? 'cancelWon' : 'cancelLost');
  } finally {
    await followed;
  }
}

/** The same message under the same key once more, and another one under it. */
async function repeatUnderItsKey(user: User): Promise<void> {
  const { reached, complain } = user.parts;
  const [key, messageId] = [crypto.randomUUID(), crypto.randomUUID()];
  const text = `work; emit ${user.some(20)} 3; done`;
  const first = await user.send(text, { key, messageId, returnImmediately: true });
  if (!('task' in first)) return;
  const { id: taskId } = first.task;
  const again = await user.send(text, { key, messageId, returnImmediately: true });
  if (!('task' in again) || again.task.id !== taskId)
    complain({ promise: 'P9', taskId, says: 'a repeat under its key led to another task' });
  reached.add('repeatedKey');
  const other = await user.send(`${text} differently`, { key, messageId: crypto.randomUUID(), returnImmediately: true }).then(
    () => 'taken',
    (error: unknown) => {
      if (isA2AError(error) && error.code === 'INVALID_PARAMS') return 'refused';
      throw error;
    },
  );
  if (other === 'taken') complain({ promise: 'P9', taskId, says: 'another message under a known key was accepted' });
  reached.add('keyWithOtherContent');
  await user.follow(taskId);
}

/** A second message while the first is worked on: the turn takes it from its inbox, or it gets a turn of its own. */
async function enqueue(user: User): Promise<void> {
  const takes = user.parts.random() < 0.5;
  const taskId = await user.start(`work; emit ${20 + user.some(20)} 10; ${takes ? 'inbox; ' : ''}done`);
  const probe = user.probeUnder('enqueue');
  if (taskId === undefined) return;
  const followed = user.following(taskId);
  try {
    await probe?.send(`work again; emit ${user.some(5)} 2; done`, { taskId, returnImmediately: true, ...named() });
  } catch (error) {
    // lost with its replica, or too late: the log says which, and the checker reads it
    if (!isTrouble(error) && !isRefusal(error)) throw error;
  } finally {
    await followed;
  }
}

/** The turn would be silent for long; the message that interrupts it is answered long before. */
async function interrupt(user: User): Promise<void> {
  const taskId = await user.start('work; silent 8000; done');
  const probe = user.probeUnder('interrupt');
  if (taskId === undefined) return;
  const followed = user.following(taskId);
  try {
    const answer = await probe?.send(`work instead; emit ${user.some(5)} 2; done`, { taskId, ...named() });
    if (answer && 'task' in answer && answer.task.status.state === 'TASK_STATE_COMPLETED') user.parts.reached.add('interrupt');
    else await user.cancel(taskId);
  } catch (error) {
    if (!isTrouble(error) && !isRefusal(error) && !isLoss(error)) throw error;
    await user.cancel(taskId);
  } finally {
    await followed;
  }
}

async function beRefused(user: User): Promise<void> {
  const taskId = await user.start('work; silent 1500; done');
  const probe = user.probeUnder('refuse');
  if (taskId === undefined) return;
  const followed = user.following(taskId);
  try {
    await probe?.send('done too', { taskId, returnImmediately: true, ...named() });
  } catch (error) {
    if (isRefusal(error)) user.parts.reached.add('refusedWhileWorking');
    else if (!isTrouble(error)) throw error;
  } finally {
    await followed;
  }
}

/** A turn that waits for credentials is held, and every replica takes the message that brings them. */
async function signIn(user: User): Promise<void> {
  const taskId = await user.start('hold-auth sign in, please; emit 3 1; done');
  if (taskId === undefined) return;
  await user.attended(taskId, async () => {
    for (let look = 0; look < 100; look++) {
      const { state } = (await user.get(taskId)).status;
      if (state === 'TASK_STATE_AUTH_REQUIRED') break;
      if (state !== 'TASK_STATE_WORKING' && state !== 'TASK_STATE_SUBMITTED') return; // lost before it had asked
      await pause(20);
    }
    const sent = await user.send('here is my token', { taskId, returnImmediately: true }).then(
      () => true,
      (error: unknown) => {
        if (isRefusal(error)) return false;
        throw error;
      },
    );
    if (sent) user.parts.reached.add('heldForAuth');
    else await user.cancel(taskId); // it is run again after a loss, and would wait for another token
  });
}

function named(): { readonly key: string; readonly messageId: string } {
  return { key: crypto.randomUUID(), messageId: crypto.randomUUID() };
}

function isRefusal(error: unknown): boolean {
  return isA2AError(error) && error.code === 'UNSUPPORTED_OPERATION';
}
