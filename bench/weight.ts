// npm run weight [-- --against REF]
// Prints files and lines of each room, the longest functions, and the files that import most others.
//
// --against REF  Print also the numbers of a commit (a branch, a tag, an id), and the difference.
// --help         Print this.
//
// A room is a folder of src, a folder of console, or another folder of the root. src/* has the files of src that are in no folder.
// Files are TypeScript, JavaScript, CSS and SQL, as they are on the disk; new files count, generated ones do not. Tests and
// migrations are apart: they are in no total and in no other list.
//
// Lines are all lines of a file, also blank lines and comments. median and p90 are lines of a file. A function has the lines from
// its first to its last, with the functions inside it. The number beside it is that of the function with the same name in the same
// file of the commit. A fan-out is the number of files of this tree that a file imports.

import { parseArgs } from 'node:util'
import { sourcesIn } from '../test/support/sources.ts'
import { helpIfAsked } from './usage.ts'
import { findCommit, sourcesOfCommit } from './weight/commit.ts'
import { tablesOf } from './weight/tables.ts'
import { folders, names, weigh } from './weight/weigh.ts'

helpIfAsked(import.meta.filename)
const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    against: { type: 'string' },
  },
})
try {
  console.log(report(values.against))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function report(against: string | undefined): string {
  const now = weigh(folders.flatMap((folder) => sourcesIn(folder, { names })))
  if (against === undefined) return `This tree\n\n${tablesOf(now)}`
  const { id, subject } = findCommit(against)
  return `This tree against ${id}, "${subject}"\n\n${tablesOf(now, weigh(sourcesOfCommit(id)))}`
}
