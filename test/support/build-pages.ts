import { buildPages } from '../../src/process/pages/build.ts'
import { repository } from './former-release.ts'

/** Before any test at a browser: files that run at once would each build them. */
export default async function setup(): Promise<void> {
  await buildPages(repository, () => console.log('Building the pages.'))
}
