import type { Reporter, TestModule, Vitest } from 'vitest/node'
import { type FileTime, timesOf } from './file-times.ts'

/** Prints where the time of a run went, after vitest's own summary. It fails nothing. */
export default class TimeReport implements Reporter {
  #vitest: Vitest | undefined
  /** When each file ended. */
  readonly #endsMs = new Map<TestModule, number>()

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(): void {
    this.#endsMs.clear()
  }

  onTestModuleEnd(testModule: TestModule): void {
    this.#endsMs.set(testModule, performance.now())
  }

  onTestRunEnd(): void {
    const report = timesOf([...this.#endsMs].map(([testModule, endMs]) => fileTime(testModule, endMs)))
    if (report !== '') this.#vitest?.logger.log(`${report}\n`)
  }
}

function fileTime(testModule: TestModule, endMs: number): FileTime {
  const diagnostic = testModule.diagnostic()
  // A worker that runs several files is prepared once, and loads a module once: that counts for the first file.
  const worker = diagnostic.environmentSetupDuration + diagnostic.prepareDuration
  const loadMs = worker + diagnostic.setupDuration + diagnostic.collectDuration
  return {
    file: testModule.relativeModuleId,
    tier: testModule.project.name,
    tests: [...testModule.children.allTests()].length,
    ms: loadMs + diagnostic.duration,
    loadMs,
    endMs,
  }
}
