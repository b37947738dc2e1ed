import { changedKinds } from '../catalog/file-changes.ts'
import type { FilePlace } from '../catalog/gateway-source.ts'
import type { Log } from '../telemetry/log.ts'
import type { FileOutcome } from './apply-gateway-file.ts'
import type { FileInForce } from './gateway-file-queries.ts'

/** Logs the result of applying a gateway.yaml. */
export function logFileOutcome(
  log: Log,
  { place, hash }: { place: FilePlace; hash: Buffer },
  outcome: FileOutcome,
): void {
  const { revision } = outcome
  const own = { revision, hash: shortHash(hash) }
  switch (outcome.kind) {
    case 'unchanged':
      log.info(own, 'gateway.yaml is already in force')
      return
    case 'lower':
      log.warn(
        { ...own, ...place, inForce: shown(outcome.inForce) },
        'gateway.yaml was not applied: a file with a higher revision is in force',
      )
      return
    case 'applied': {
      const { replaced, changes } = outcome
      log.info({ ...own, ...changedKinds(changes) }, 'gateway.yaml was applied')
      if (replaced === undefined || isSamePlace(replaced, place) || isHigher(revision, replaced)) return
      log.warn(
        { ...own, ...place, replaced: shown(replaced) },
        'gateway.yaml has replaced another file: unless one has a higher revision, the file applied last wins',
      )
    }
  }
}

function shown({ revision, hash, path, host, pid, appliedAt }: FileInForce) {
  return { revision, hash: shortHash(hash), path, host, pid, appliedAt }
}

const shortHash = (hash: Buffer) => hash.toString('hex').slice(0, 12)

/** Whether both are the same file, which was edited. */
const isSamePlace = (a: FilePlace, b: FilePlace) => a.path === b.path && a.host === b.host

const isHigher = (revision: number | undefined, other: FileInForce) => (revision ?? 0) > (other.revision ?? 0)
