import { describe, test } from 'vitest';
import { memory } from '../../src/agent/memory.ts';
import { storeSuite } from '../../src/testing/store-suite.ts';

storeSuite('memory', memory, { describe, test });
