/**
 * Runs a verb: what it throws reaches whoever awaits it. A verb that nobody awaits must not end the process with an unhandled rejection when
 * its turn is canceled, so each promise counts as looked at.
 */
export function verb<T>(say: () => Promise<T>): Promise<T> {
  const said = attempt(say);
  said.catch(() => {});
  return said;
}

function attempt<T>(say: () => Promise<T>): Promise<T> {
  try {
    return say();
  } catch (error) {
    return Promise.reject(error);
  }
}
