/**
 * What CHANGELOG.md lists below `## VERSION`, whatever follows the version in that line. Undefined if it lists
 * nothing there.
 */
export function changesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1)
  const own = sections.find((section) => /^\S+/.exec(section)?.[0] === version)
  return own?.replace(/^.*\n?/, '').trim() || undefined
}
