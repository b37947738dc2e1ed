import { join } from 'node:path'
import { systemDisk } from '../runtime/disk.ts'

/**
 * The captured answers of a process are stored in its journal directory, in their own segments:
 * `answers-00000000.seg`, `answers-00000001.seg`, ... `answers.json` records how far they have been shipped
 * to Postgres. Releases that do not know these names ignore the files and delete them with the directory; the
 * answers are then lost, but rows and money are not.
 */
const segmentFile = /^answers-(\d{8})\.seg$/
const positionFile = 'answers.json'

export interface AnswerPosition {
  segment: number
  at: number
}

export function answerSegmentPath(directory: string, segment: number): string {
  return join(directory, `answers-${String(segment).padStart(8, '0')}.seg`)
}

/** The numbers of the segments, ascending. */
export function listAnswerSegments(directory: string, disk = systemDisk): number[] {
  if (!disk.existsSync(directory)) return []
  return disk
    .readdirSync(directory)
    .flatMap((name) => segmentFile.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}

/**
 * The position up to which Postgres has the answers. If the file is missing or unreadable, the answers are
 * shipped once more.
 */
export function readAnswerPosition(directory: string, disk = systemDisk): AnswerPosition {
  try {
    const { segment, at }: Partial<AnswerPosition> = JSON.parse(
      disk.readFileSync(join(directory, positionFile), 'utf8'),
    )
    if (Number.isSafeInteger(segment) && Number.isSafeInteger(at))
      return { segment: segment ?? 0, at: at ?? 0 }
  } catch {
    // Starts from the beginning: Postgres ignores answers that it already has.
  }
  return { segment: 0, at: 0 }
}

export function writeAnswerPosition(directory: string, position: AnswerPosition, disk = systemDisk): void {
  const path = join(directory, positionFile)
  disk.writeFileSync(`${path}.draft`, JSON.stringify(position), { mode: 0o600 })
  disk.renameSync(`${path}.draft`, path)
}
