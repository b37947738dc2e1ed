import { changedKinds } from '../catalog/file-changes.ts'
import type { FilePlace } from '../catalog/gateway-source.ts'
import type { Log } from '../telemetry/log.ts'
import type { FileOutcome } from './apply-gateway-file.ts'
import type { FileInForce } from './gateway-file-queries.ts'

/** Tell the operator what became of a gateway.yaml. */
export function logFileOutcome(
  log: Log,
  { place, hash }: { place: FilePlace; hash: Buffer },
  outcome: FileOutcome,
): void {
  const { revision } = outcome
  const own = { revision, hash: shortHash(hash) }
  switch (outcome.kind) {
    case 'unchanged':
      log.info(own, 'gateway.yaml is in force already')
      return
    case 'lower':
      log.warn(
        { ...own, ...place, inForce: shown(outcome.inForce) },
        'gateway.yaml is not applied: one with a higher revision is in force',
      )
      return
    case 'applied': {
      const { replaced, changes } = outcome
      log.info({ ...own, ...changedKinds(changes) }, 'gateway.yaml is applied')
      if (replaced === undefined || isSamePlace(replaced, place) || isHigher(revision, replaced)) return
      log.warn(
        { ...own, ...place, replaced: shown(replaced) },
        'gateway.yaml has replaced another one: without a higher revision the one applied last wins',
      )
    }
  }
}

function shown({ revision, hash, path, host, pid, appliedAt }: FileInForce) {
  return { revision, hash: shortHash(hash), path, host, pid, appliedAt }
}

const shortHash = (hash: Buffer) => hash.toString('hex').slice(0, 12)

/** One file that was edited. */
const isSamePlace = (a: FilePlace, b: FilePlace) => a.path === b.path && a.host === b.host

const isHigher = (revision: number | undefined, other: FileInForce) => (revision ?? 0) > (other.revision ?? 0)
