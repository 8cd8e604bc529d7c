import { describe, test } from 'vitest';
import { sqlite } from '../../src/agent/sqlite.ts';
import { storeSuite } from '../../src/testing/store-suite.ts';
import { tempFiles } from './temp.ts';

const file = tempFiles();

storeSuite('sqlite', () => sqlite(file()), { describe, test });
