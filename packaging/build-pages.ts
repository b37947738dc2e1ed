import { resolve } from 'node:path'
import { buildPages } from '../src/process/pages/build.ts'

/** `npm run build:pages`: build the pages, as a start would. */

const seconds = await buildPages(resolve(import.meta.dirname, '..'), () => console.log('Building the pages.'))
console.log(
  seconds === undefined
    ? 'The pages are as new as their sources.'
    : `The pages were built in ${seconds.toFixed(1)} s.`,
)
