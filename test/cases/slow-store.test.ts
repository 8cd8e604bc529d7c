import { describe, expect, test } from 'vitest';
import { callers, chunks, collect, ended, opened, pause, rounds, stageOf, statesOf, taskIn, textsIn, textsOf } from './support.ts';

// A answers and runs nothing, and each of its calls to the store begins 200 ms late; B runs everything at once. So whatever A reads, it reads
// long after it has changed.
const stage = stageOf({ flags: (index) => (index === 0 ? ['--fault', 'slow', '--concurrency', '0'] : []) });

describe('what is read late', () => {
  test.each(callers)(
    '$name: is answered as of the commit all the same: the first answer shows nothing that came after (case 35, P2)',
    async (raw) => {
      const who = stage.by(raw);
      const answers = await Promise.all(Array.from({ length: 6 }, () => who.at(0).start('emit 5 0; done')));
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: { state: 'TASK_STATE_SUBMITTED' }, history: { length: 1 } });
        expect(answer).not.toHaveProperty('artifacts');
      }
      for (const { id } of answers) expect(textsIn(await ended(who.at(1), id)).join('')).toBe('1 2 3 4 5 ');
    },
  );

  test.each(callers)('$name: is streamed from the commit on, every event once (case 35, case 54, STRM-04)', async (raw) => {
    const seen = await collect(stage.by(raw).at(0).stream('emit 5 0; work; done'));
    expect(taskIn(seen[0])).toMatchObject({ status: { state: 'TASK_STATE_SUBMITTED' }, history: { length: 1 } });
    expect(taskIn(seen[0])).not.toHaveProperty('artifacts');
    expect(textsOf(seen).join('')).toBe('1 2 3 4 5 ');
    expect(statesOf(seen)).toEqual(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });

  test.each(callers)('$name: is the end of the turn for a blocking send, as everywhere else (case 34)', async (raw) => {
    const who = stage.by(raw);
    const answer = await who.at(0).send('emit 5 0; ask more?');
    expect(textsIn(answer).join('')).toBe('1 2 3 4 5 ');
    expect(await who.at(1).get(answer.id)).toEqual(answer);
    const again = await who.at(0).start('emit 1 0; done', { taskId: answer.id });
    expect(again.status.state).toBe('TASK_STATE_SUBMITTED'); // not what stood before, and not what came after (case 8)
    expect(textsIn(again)).toEqual(textsIn(answer));
    expect(again.history).toHaveLength(3);
  });

  test.each(callers)(
    '$name: joins a snapshot and what follows without gap and without repeat, whenever it begins (SUB-07, AMB-02, case 97)',
    async (raw) => {
      const who = stage.by(raw);
      const { id } = await who.at(1).start('silent 300; emit 300 12; done');
      const following = await Promise.all(
        Array.from({ length: rounds(40, 8) }, async (_, index) => {
          await pause(index * 60); // spread over the life of the task: where it stands is what differs
          return opened(who.at(0).subscribe(id));
        }),
      );
      for (const { all } of following) expect(textsOf(await all).join('')).toBe(chunks(1, 300).join(''));
    },
  );
});
