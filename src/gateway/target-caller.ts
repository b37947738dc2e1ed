import type { TranslationNote } from '../canonical/chat.ts'
import { mergeTraits } from '../canonical/traits.ts'
import { redactText } from '../redaction/redact.ts'
import type { Target } from '../routing/candidates.ts'
import type { Chosen } from '../routing/targets.ts'
import type { Admitted } from '../stages/admit.ts'
import { newAttempt } from '../stages/attempt.ts'
import type { Gateway } from '../stages/gateway.ts'
import { isMoneyLimited } from '../stages/hold-money.ts'
import { knownSecrets } from '../stages/redact-error.ts'
import { requestLog } from '../telemetry/log.ts'
import { refusedMembers } from '../traits/refused-members.ts'
import { isSent } from '../traits/sent-members.ts'
import { type TraitChange, traitChange } from '../traits/trait-change.ts'
import { type CallResult, callPrepared, callTarget, type Unanswered } from './call-target.ts'
import { noteTranslation } from './note-translation.ts'
import type { Preparation, Prepared, SentTranslation } from './prepare.ts'
import { retryBytes } from './worst-case.ts'

/**
 * Calls the targets of one request. A translated request that an upstream refuses because of a parameter which the request
 * can do without is translated again without it and sent once more, to the same target. This happens once for a request.
 */
export class TargetCaller {
  /** Upstream calls so far. */
  calls = 0
  readonly #gateway: Gateway
  readonly #admitted: Admitted
  readonly #preparation: Preparation
  #hasRetried = false

  constructor(gateway: Gateway, admitted: Admitted, preparation: Preparation) {
    this.#gateway = gateway
    this.#admitted = admitted
    this.#preparation = preparation
  }

  async call(chosen: Chosen): Promise<CallResult> {
    const result = await callTarget(this.#gateway, this.#admitted, chosen, this.#preparation)
    if (result.kind === 'untranslatable') return result
    this.calls++
    if (result.kind === 'answered' || !this.#mayRetry()) return result
    const refused = changesAfter(chosen.target, result)
    if (refused === undefined) return result
    return (await this.#callAgain(chosen, result, refused)) ?? result
  }

  #mayRetry(): boolean {
    const { bounds, draining } = this.#gateway
    const { life } = this.#admitted
    return (
      !this.#hasRetried &&
      this.calls < bounds.attemptsMax &&
      !draining &&
      !life.clientGone &&
      life.cut === undefined
    )
  }

  /** Undefined: there is no other translation to send. */
  async #callAgain(
    chosen: Chosen,
    first: Unanswered,
    { changes, translation }: Refused,
  ): Promise<CallResult | undefined> {
    const { modelCandidates } = chosen
    const subjects = changes.map(({ subject }) => subject)
    const target: Target = {
      ...chosen.target,
      traits: mergeTraits(chosen.target.traits, ...changes.map(({ traits }) => traits)),
      reason: `again without ${subjects.join(', ')}, ${chosen.target.reason}`,
    }
    const prepared = await this.#prepareOther({ ...chosen, target }, translation)
    if (prepared?.translation === undefined || !this.#mayRetry()) {
      // The row has the notes of what was sent.
      noteTranslation(this.#admitted, chosen.target, translation.notes)
      return undefined
    }
    this.#hasRetried = true
    this.calls++
    noteTranslation(this.#admitted, target, retryNotes(translation, prepared.translation, subjects))
    const record = newAttempt(target)
    this.#admitted.row.attempts.push(record)
    requestLog(this.#gateway.log, this.#admitted.id).info(
      { channel: target.channel.name, protocol: target.protocol, refused: subjects },
      'an upstream refused parameters of a translated request: it is sent once more without them',
    )
    const second = await callPrepared(
      this.#gateway,
      this.#admitted,
      { modelCandidates, target },
      { prepared, record },
    )
    this.#learn(target, changes, first, second, record.status)
    return second
  }

  /** Undefined when the format cannot express it, when nothing would change, or when its cost may not be held. */
  async #prepareOther(
    { modelCandidates, target }: Pick<Chosen, 'modelCandidates' | 'target'>,
    before: SentTranslation,
  ): Promise<Prepared | undefined> {
    const { model } = modelCandidates
    try {
      await this.#preparation.ahead(target, model)
      if (this.#admitted.life.clientGone) return undefined
      const prepared = this.#preparation.prepare(target, model)
      const { translation } = prepared
      if (translation === undefined || translation.body.equals(before.body)) return undefined
      const heldBytes = Math.max(this.#admitted.body.length, before.body.length) + retryBytes
      return isMoneyLimited(this.#admitted) && translation.body.length > heldBytes ? undefined : prepared
    } catch {
      // The first refusal is the answer.
      return undefined
    }
  }

  /** The upstream took the request without the parameter, or found something else in it: so it does refuse the parameter. */
  #learn(
    { channel, upstreamModel, protocol }: Target,
    changes: readonly Change[],
    first: Unanswered,
    second: CallResult,
    status: number | null,
  ): void {
    const taken = status !== null && status >= 200 && status <= 299
    const refusal = second.kind === 'unanswered' && isRefusal(status) ? second.error : undefined
    if (!taken && (refusal === undefined || refusal.message === first.error.message)) return
    const still = new Set(refusal === undefined ? [] : refusedMembers(refusal).map(({ member }) => member))
    const evidence = redactText(first.error.message, knownSecrets(this.#admitted))
    for (const { member, subject, traits } of changes) {
      if (still.has(member)) continue
      this.#gateway.refusals.remember({
        ...{ channelId: channel.id, channel: channel.name, upstreamModel, protocol },
        ...{ subject, traits, evidence, requestId: this.#admitted.id },
      })
    }
  }
}

interface Refused {
  translation: SentTranslation
  changes: readonly Change[]
}

interface Change extends TraitChange {
  /** As the upstream named it. */
  member: string
}

/** The traits that follow from a refusal; undefined: none that we could do without. */
function changesAfter(
  { protocol, traits }: Target,
  { error, refusal, translation }: Unanswered,
): Refused | undefined {
  if (translation === undefined || !isRefusal(refusal?.status ?? null)) return undefined
  const refused = refusedMembers(error)
  if (refused.length === 0) return undefined
  const sent = translation.sent()
  const changes: Change[] = []
  for (const each of refused) {
    const change = traitChange(protocol, each, sent, traits)
    if (change !== undefined) changes.push({ ...change, member: each.member })
    // It must stay, and would be refused again.
    else if (isSent(sent, each.member)) return undefined
  }
  return changes.length === 0 ? undefined : { translation, changes }
}

function isRefusal(status: number | null): boolean {
  return status === 400 || status === 422
}

/** The notes of the second translation. Those that the first one did not have say why. */
function retryNotes(
  first: SentTranslation,
  second: SentTranslation,
  subjects: readonly string[],
): TranslationNote[] {
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
