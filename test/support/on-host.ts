const mapsUser = process.getuid?.() === 0 ? [] : ['--map-root-user']

/** The options of `unshare` for a host name of one's own. */
export const namespaces: readonly string[] = ['--uts', ...mapsUser]

/** The command that runs its arguments as the first process of a namespace, as a container has it. Its child is that process. */
export const asFirstProcess: readonly string[] = ['unshare', ...mapsUser, '--pid', '--fork', '--kill-child']

/** The command that runs its arguments on another host. It becomes them, so that the pid and signals are theirs. */
export function onHost(name: string): string[] {
  return ['unshare', ...namespaces, 'sh', '-c', 'hostname "$0" && exec "$@"', name]
}
