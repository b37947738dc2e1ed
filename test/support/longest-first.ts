import { relative, resolve } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = resolve(import.meta.dirname, '../..')

/**
 * The files that take longest, by the report of a run. A fresh checkout remembers no times, and vitest would begin with the largest
 * files: then a long one that begins late is what the run waits for in the end.
 */
export const longest: readonly string[] = [
  'test/tutorials.test.ts',
  'test/deploy/stack-redis.test.ts',
  'test/console/every-page.browser.test.ts',
  'test/console/every-control.browser.test.ts',
  'test/background/kills.test.ts',
  'test/degradation/recovery.test.ts',
  'test/console/overview.browser.test.ts',
  'test/processes/gateway-file.test.ts',
  'test/gateway/kill.test.ts',
  'test/secrets/new-master.test.ts',
  'test/processes/supervisor.test.ts',
  'test/pages/gateway.test.ts',
  'test/console/log.browser.test.ts',
  'test/archive/admin-log.test.ts',
  'test/workers/chaos.test.ts',
  'test/kept/conversations-lasting.test.ts',
  'test/api/admin-matrix.test.ts',
  'test/api/admin-users.test.ts',
]

/** Begins with the files that take longest, and keeps vitest's order for all others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => place(a) - place(b))
  }
}

function place({ moduleId }: TestSpecification): number {
  const index = longest.indexOf(relative(root, moduleId))
  return index === -1 ? longest.length : index
}
