import type { OutputBound } from 'tollgate-verify/options.ts'
import type { Line, Report } from 'tollgate-verify/report.ts'
import { run as runChecks } from 'tollgate-verify/run.ts'
import { putProbeVerdicts } from '../catalog/verdict-queries.ts'
import type { Database } from '../db/database.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { redactText } from '../redaction/redact.ts'
import { everySecretOf } from '../routing/credentials.ts'
import type { Ledger } from '../shipping/ledger.ts'
import { probeBase, probeFetch } from './probe-fetch.ts'
import { callerOf } from './probe-keys.ts'
import { findProbedOffer, type ProbedOffer } from './probed-offer.ts'
import { beginRun, costsOf, endRun, noteKey, type ProbeRun } from './queries.ts'
import { verdictsOf } from './verdicts-of.ts'

/** The parts of a process that probes need, besides those of every request. */
export interface ProbeGateway extends Gateway {
  database: Database
  ledger: Ledger
}

const within = { withinMs: 10_000 }

/**
 * Runs one probe: checks the offer step by step, as `tollgate verify` does, and writes a verdict on each
 * check. Does nothing when the run has ended. When `signal` ends it early, it is restarted later with the
 * same key and budget.
 */
export async function probeOffer(gateway: ProbeGateway, id: string, signal: AbortSignal): Promise<void> {
  const { database, log } = gateway
  const run = await database.jobs.ask(({ db }) => beginRun(db, id), within)
  if (run === undefined) return
  const probed = await probedOf(gateway, run)
  if (typeof probed === 'string') {
    await database.jobs.ask(({ db }) => endRun(db, id, { state: 'failed', error: probed }), within)
    return
  }
  const { calls, ms, interrupted, sections: all } = await ask(gateway, run, probed, signal)
  if (interrupted) return
  // An answer may repeat parts of its request.
  const secrets = everySecretOf(probed.channel)
  const sections = all
    .filter((section) => section.id !== 'service')
    .map((section) => ({ ...section, checks: section.checks.map((line) => withoutSecrets(line, secrets)) }))
  await noteVerdicts(
    gateway,
    probed,
    sections.flatMap(({ checks }) => checks),
  )
  const report = { calls, ms, sections }
  await database.jobs.ask(({ db }) => endRun(db, id, { state: 'ended', report }), within)
  log.info({ probe: id, channel: probed.channel.name, model: probed.name, calls }, 'probed an offer')
}

/** Returns the offer of a run as it is now in the catalog, or why there is none. */
async function probedOf(gateway: ProbeGateway, run: ProbeRun): Promise<ProbedOffer | string> {
  const { snapshot } = gateway.catalog
  const channel = snapshot.channels.get(run.channelId)?.name ?? ''
  try {
    return findProbedOffer(snapshot, { channel, model: run.model, protocol: run.protocol })
  } catch (error) {
    return redactText(error instanceof Error ? error.message : String(error))
  }
}

async function ask(
  gateway: ProbeGateway,
  run: ProbeRun,
  probed: ProbedOffer,
  signal: AbortSignal,
): Promise<Report> {
  const { model, offer, channel, name, protocol, upstreamModel, format } = probed
  // The name starts with the run's id, because a key of this name has the budget of this run.
  const keyName = `${run.id} ${channel.name} ${name} ${protocol}`.slice(0, keyCharactersMax)
  const isPriced = (model.price ?? offer.libraryPrices?.of(upstreamModel)) !== undefined
  const costMax = isPriced ? run.costMax : null
  const { jobs } = gateway.database
  const identity = await jobs.ask(({ db }) => callerOf(db, keyName, costMax), within)
  await jobs.ask(({ db }) => noteKey(db, run.id, identity.keyId), within)
  return await runChecks(
    {
      base: probeBase,
      fetch: probeFetch(gateway, probed, identity),
      key: '',
      model: name,
      formats: [format],
      areNamed: true,
      imageModel: undefined,
      isJson: true,
      timeoutMs: callMs,
      outputBound: boundOf(probed),
      secrets: everySecretOf(probed.channel),
    },
    signal,
    { starts() {}, asks() {}, found() {}, ended() {} },
  )
}

/** A reasoning model needs room before its answer begins. */
const outputTokens = 2048
const callMs = 120_000
const keyCharactersMax = 128

/** Without this bound, a budget would have to hold the model's longest answer for each request. */
function boundOf({ offer, protocol, upstreamModel }: ProbedOffer): OutputBound {
  const tokens = outputTokens
  switch (protocol) {
    case 'openai-responses':
      return { member: 'max_output_tokens', tokens }
    case 'anthropic-messages':
      return { member: 'max_tokens', tokens }
    default:
      return { member: offer.traits.of(protocol, upstreamModel).outputBound ?? 'max_tokens', tokens }
  }
}

async function noteVerdicts(
  gateway: ProbeGateway,
  { channel, offer, protocol, upstreamModel }: ProbedOffer,
  lines: readonly Line[],
): Promise<void> {
  if (!wasAnswered(lines)) return
  const verdicts = verdictsOf(new Map(lines.map((line) => [line.name, line])), {
    protocol,
    known: offer.traits.of(protocol, upstreamModel),
  })
  await gateway.ledger.shipNow()
  const costs = await gateway.database.jobs.ask(
    ({ db }) =>
      costsOf(
        db,
        lines.flatMap(({ request_ids }) => request_ids),
      ),
    within,
  )
  const decidedAt = new Date()
  const found = lines.flatMap((line) => {
    const verdict = verdicts.get(line.name)
    if (verdict === undefined) return []
    return {
      channelId: channel.id,
      upstreamModel,
      protocol,
      subject: line.name,
      ...verdict,
      evidence: line.detail,
      requestIds: line.request_ids,
      costNano: sumOf(line.request_ids.map((id) => costs.get(id))),
      decidedAt,
      expiresAt: undefined,
    }
  })
  await gateway.database.jobs.ask(({ db }) => putProbeVerdicts(db, found), within)
}

function withoutSecrets(line: Line, secrets: readonly string[]): Line {
  return { ...line, detail: redactText(line.detail, secrets) }
}

/**
 * When even the simplest request was not answered, the channel is down or refuses us, which says nothing
 * about the model.
 */
function wasAnswered(lines: readonly Line[]): boolean {
  return lines[0]?.verdict === 'ok'
}

/** Undefined when one of them is unknown. */
function sumOf(costs: readonly (bigint | undefined)[]): bigint | undefined {
  let sum = 0n
  for (const cost of costs) {
    if (cost === undefined) return undefined
    sum += cost
  }
  return sum
}
