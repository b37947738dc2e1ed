import { type Finding, findingsOf } from '../canonical/finding.ts'
import { type GatewayFile, hasBudgets } from '../catalog/gateway-file.ts'
import type { StoredGroup, StoredRows } from '../catalog/stored-rows.ts'

const { well, warning } = findingsOf('money')

type Model = StoredRows['models'][number]
type Group = Pick<StoredGroup, 'name' | 'policy' | 'seconds' | 'unseen' | 'isMoneyLimited'>

/**
 * Checks, where money is limited, whether the cost of requests has an upper bound, and reports what a client
 * that disconnects is charged. An entry in the file overrides the row of the same name, because the
 * next start replaces that row. `file` or `rows` is undefined if there are none.
 */
export function checkMoney(file: GatewayFile | undefined, rows: StoredRows | undefined): Finding[] {
  const models = mergedBy(({ id }) => id, rows?.models ?? [], modelsOf(file))
  const groups = mergedBy(({ name }) => name, rows?.groups ?? [], groupsOf(file, rows))
  const isLimited = rows?.isMoneyLimited === true || isLimitedBy(file)
  return [...(isLimited ? unsized(models) : []), ...unseen(groups.filter((group) => group.isMoneyLimited))]
}

function mergedBy<Entry>(nameOf: (entry: Entry) => string, ...lists: readonly (readonly Entry[])[]): Entry[] {
  return [...new Map(lists.flat().map((entry) => [nameOf(entry), entry])).values()]
}

function modelsOf(file: GatewayFile | undefined): Model[] {
  return (file?.models ?? []).map(({ id, contextLength, price }) => ({
    id,
    isSized: contextLength !== undefined || price?.output === undefined,
  }))
}

function groupsOf(file: GatewayFile | undefined, rows: StoredRows | undefined): Group[] {
  const { groups = [], tenants = [] } = file ?? {}
  return groups.map(({ name, budget, clientGone }) => ({
    name,
    ...clientGone,
    isMoneyLimited:
      // Keys created by an admin are only in the database.
      rows?.groups.some((row) => row.name === name && row.isMoneyLimited) === true ||
      tenants.some(({ balance, budget: ofTenant, keys }) =>
        keys.some((key) => key.group === name && (balance ?? ofTenant ?? key.budget ?? budget) !== undefined),
      ),
  }))
}

function isLimitedBy(file: GatewayFile | undefined): boolean {
  return file !== undefined && (hasBudgets(file) || file.tenants.some(({ balance }) => balance !== undefined))
}

/**
 * Reports models without a context length. Nothing limits the cost of their input if it is not all in the
 * body.
 */
function unsized(models: readonly Model[]): Finding[] {
  const names = models.filter(({ isSized }) => !isSized).map(({ id }) => `"${id}"`)
  if (names.length === 0) return []
  return [
    warning('money.context_length', `no context_length: ${names.join(', ')}`, {
      why: 'Keys with limited money get a 403 for requests with files, searches or members that are not known to be plain.',
      fix: 'Give these models a context_length, or list the members in plain_members.',
      docs: 'docs/reference/limits.md#input-that-the-body-does-not-contain',
    }),
  ]
}

/** Returns one finding for each set of groups with the same settings. */
function unseen(groups: readonly Group[]): Finding[] {
  return [...Map.groupBy(groups, wordsOf)].map(([words, alike]) =>
    well(
      'money.unseen',
      `${alike.length === 1 ? 'group' : 'groups'} ${alike.map(({ name }) => name).join(', ')}: ${words}`,
    ),
  )
}

function wordsOf({ policy, seconds, unseen }: Group): string {
  const when = policy === 'abort' ? 'before the first byte' : `and has received no byte ${seconds} s later`
  const held = unseen === 'hold' ? ', after its money has been held for UPSTREAM_TOTAL_MS' : ''
  return `a client that disconnects ${when} is charged an estimate${held} (client_gone)`
}
