import type { TranslationNote } from '../canonical/chat.ts'
import { mergeTraits } from '../canonical/traits.ts'
import { refusedMembers } from '../catalog/traits/refused-members.ts'
import { redactText } from '../redaction/redact.ts'
import type { Target } from '../routing/candidates.ts'
import type { Chosen } from '../routing/targets.ts'
import { requestLog } from '../telemetry/log.ts'
import type { Admitted } from './admit.ts'
import { newAttempt } from './attempt.ts'
import { type CallResult, callPrepared, callTarget, type UnansweredCall } from './call-target.ts'
import type { Gateway } from './gateway.ts'
import { isMoneyLimited } from './hold-money.ts'
import { type Change, type LeftOutParts, leftOutAfter } from './leave-out-unable.ts'
import { joinedBody, type Preparation, type Prepared } from './prepare.ts'
import { knownSecrets } from './redact-error.ts'
import { noteTranslation } from './translation/note-translation.ts'
import { retryBytes } from './worst-case.ts'

/**
 * Calls the targets of one request. If an upstream refuses something that the request can do without, the
 * request is sent to the same target once more without it. This can be a parameter of a translation,
 * something that we added to the client's own bytes, or reasoning sealed by another account. It happens once
 * for each target, whatever the reasons.
 */
export class TargetCaller {
  /** The number of upstream calls so far. */
  calls = 0
  readonly #gateway: Gateway
  readonly #admitted: Admitted
  readonly #preparation: Preparation

  constructor(gateway: Gateway, admitted: Admitted, preparation: Preparation) {
    this.#gateway = gateway
    this.#admitted = admitted
    this.#preparation = preparation
  }

  async call(chosen: Chosen): Promise<CallResult> {
    const result = await callTarget(this.#gateway, this.#admitted, chosen, this.#preparation)
    if (result.kind === 'untranslatable') return result
    this.calls++
    if (result.kind === 'answered' || !mayRefuse(result.refusal?.status) || !this.#mayRetry()) return result
    const parts = leftOutAfter(chosen.target, result.error, () => result.prepared.sent())
    const second = parts && (await this.#without(chosen, result, parts))
    return second === undefined ? result : this.#callAgain(chosen, result, second)
  }

  #mayRetry(): boolean {
    const { bounds, draining } = this.#gateway
    const { life } = this.#admitted
    return this.calls < bounds.attemptsMax && !draining && !life.clientGone && life.cut === undefined
  }

  async #callAgain(chosen: Chosen, first: UnansweredCall, second: SecondTry): Promise<CallResult> {
    const { target, prepared, subjects, changes } = second
    this.calls++
    noteTranslation(this.#admitted, target, prepared.notes)
    const record = newAttempt(target)
    this.#admitted.row.attempts.push(record)
    requestLog(this.#gateway.log, this.#admitted.id).info(
      { channel: target.channel.name, protocol: target.protocol, refused: subjects },
      'an upstream refused optional parts of a request; sending it once more without them',
    )
    const { modelCandidates } = chosen
    const result = await callPrepared(
      this.#gateway,
      this.#admitted,
      { modelCandidates, target },
      { prepared, record },
    )
    this.#learn(target, changes, first, result, record.status)
    return result
  }

  /**
   * Returns undefined when the format cannot express the request, when nothing would change, or when the held
   * money may not cover the cost.
   */
  async #without(
    chosen: Chosen,
    { prepared: before }: UnansweredCall,
    parts: LeftOutParts,
  ): Promise<SecondTry | undefined> {
    try {
      const changed = parts.changes.length === 0 ? undefined : await this.#withChanges(chosen, before, parts)
      if (!this.#mayRetry()) return undefined
      const open = changed ?? { target: chosen.target, prepared: before, subjects: [], changes: [] }
      const { sealed } = parts
      const unsealed = sealed && (await this.#preparation.withoutSealed(open.prepared, sealed))
      const prepared = unsealed ?? changed?.prepared
      if (prepared !== undefined && this.#mayRetry() && this.#isAnother(before, prepared)) {
        const subjects = unsealed === undefined ? open.subjects : [...open.subjects, `${sealed} reasoning`]
        return {
          ...open,
          target: { ...open.target, reason: reasonWithout(subjects, chosen) },
          prepared,
          subjects,
        }
      }
    } catch {
      // The first refusal becomes the answer.
    }
    // The row keeps the notes of the request that was sent.
    restoreNotes(this.#admitted, chosen.target, before)
    return undefined
  }

  async #withChanges(
    chosen: Chosen,
    before: Prepared,
    { changes }: LeftOutParts,
  ): Promise<SecondTry | undefined> {
    const subjects = changes.map(({ subject }) => subject)
    const traits = mergeTraits(chosen.target.traits, ...changes.map((change) => change.traits))
    const target = { ...chosen.target, traits }
    const { model } = chosen.modelCandidates
    await this.#preparation.ahead(target, model)
    if (!this.#mayRetry()) return undefined
    const prepared = this.#preparation.prepare(target, model)
    const named = changes.filter(({ isNamed }) => isNamed).map(({ subject }) => subject)
    return {
      target,
      prepared: { ...prepared, notes: retryNotes(before, prepared, named) },
      subjects,
      changes,
    }
  }

  /** True when the body differs and the held money covers its cost. */
  #isAnother(before: Prepared, after: Prepared): boolean {
    const [first, second] = [joinedBody(before.request.body), joinedBody(after.request.body)]
    const heldBytes = Math.max(this.#admitted.body.length, first.length) + retryBytes
    return !second.equals(first) && (!isMoneyLimited(this.#admitted) || second.length <= heldBytes)
  }

  /**
   * Remembers a parameter as refused if the upstream accepted the request without it, or then refused
   * something else.
   */
  #learn(
    { channel, upstreamModel, protocol }: Target,
    changes: readonly Change[],
    first: UnansweredCall,
    second: CallResult,
    status: number | null,
  ): void {
    const taken = status !== null && status >= 200 && status <= 299
    const refusal = second.kind === 'unanswered' && isRefusal(status) ? second.error : undefined
    if (!taken && (refusal === undefined || refusal.message === first.error.message)) return
    const still = new Set(refusal === undefined ? [] : refusedMembers(refusal).map(({ member }) => member))
    const evidence = redactText(first.error.message, knownSecrets(this.#admitted))
    for (const { member, isNamed, subject, traits } of changes) {
      if (!isNamed || still.has(member)) continue
      this.#gateway.refusals.remember({
        ...{ channelId: channel.id, channel: channel.name, upstreamModel, protocol },
        ...{ subject, traits, evidence, requestId: this.#admitted.id },
      })
    }
  }
}

interface SecondTry {
  target: Target
  prepared: Prepared
  /** What the second try leaves out. */
  subjects: readonly string[]
  /** The changes from which refusals may be learnt. */
  changes: readonly Change[]
}

function reasonWithout(subjects: readonly string[], { target }: Chosen): string {
  return `again without ${subjects.join(', ')}, ${target.reason}`
}

function isRefusal(status: number | null): boolean {
  return status === 400 || status === 422
}

/** Some servers answer 404 or 500 for a request that a model's template refuses. */
function mayRefuse(status: number | undefined): boolean {
  return status === 400 || status === 404 || status === 422 || status === 500
}

function restoreNotes(admitted: Admitted, target: Target, { notes }: Prepared): void {
  if (notes.length > 0 || !target.native) noteTranslation(admitted, target, notes)
}

/** The notes of the second try. Notes that the first try did not have include the reason. */
function retryNotes(first: Prepared, second: Prepared, subjects: readonly string[]): TranslationNote[] {
  const known = new Set(first.notes.map(textOf))
  const isNew = (note: TranslationNote) => !known.has(textOf(note))
  const why = `the upstream refused ${subjects.join(', ')} in a first try`
  const notes = second.notes.map((note) =>
    isNew(note) ? { ...note, reason: `${note.reason} (${why})` } : note,
  )
  if (second.notes.some(isNew)) return notes
  return [...subjects.map((path): TranslationNote => ({ path, action: 'mapped', reason: why })), ...notes]
}

function textOf({ path, action, reason }: TranslationNote): string {
  return `${action} ${path} ${reason}`
}
