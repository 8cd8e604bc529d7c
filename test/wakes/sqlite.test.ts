import { describe, test } from 'vitest';
import { sqlite } from '../../src/agent/sqlite.ts';
import { wakeSuite } from '../../src/testing/wake-suite.ts';
import { tempFiles } from '../stores/temp.ts';

const file = tempFiles();

wakeSuite('the doorbell of a SQLite file', () => sqlite(file()), { describe, test });
