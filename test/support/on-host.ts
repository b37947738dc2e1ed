/** The options of `unshare` for a host name of one's own. */
export const namespaces: readonly string[] =
  process.getuid?.() === 0 ? ['--uts'] : ['--uts', '--map-root-user']

/** The command that runs its arguments on another host. It becomes them, so that the pid and signals are theirs. */
export function onHost(name: string): string[] {
  return ['unshare', ...namespaces, 'sh', '-c', 'hostname "$0" && exec "$@"', name]
}
