import { describe, test } from 'vitest';

/** True where a missing service is a failure: `.ci/run` brings every service itself. */
const areServicesRequired = process.env['CHORUS_REQUIRE_SERVICES'] === '1';

/**
 * A `describe` for tests that need a service (a database, a broker). Without it they are skipped loudly: the name says so, and the run
 * ends with a count for each service. With CHORUS_REQUIRE_SERVICES=1 the lack is a failure.
 */
export function describeWith(service: string, isThere: boolean, name: string, body: () => void): void {
  if (isThere) describe(name, body);
  else if (areServicesRequired) test(`${name} needs ${service}`, () => Promise.reject(new Error(`${service} is not there`)));
  else describe.skip(`[needs ${service}] ${name}`, body);
}
