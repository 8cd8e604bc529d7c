/**
 * `settled.then(task)` runs a task after the present code has had its say. Node's queueMicrotask does the same and makes an async resource
 * for each call; measured, that is more than the tasks themselves cost.
 */
export const settled: Promise<void> = Promise.resolve();
