import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../alerts/alerts-bed.ts'
import { axe, type BrowserBed, fitsSideways, type Owner, startBrowser } from '../support/browser.ts'

let bed: BrowserBed
let owner: Owner
let receiver: Awaited<ReturnType<typeof startReceiver>>
beforeAll(async () => {
  receiver = await startReceiver()
  bed = await startBrowser({ env: { WEBHOOK_PRIVATE_ADDRESSES: 'allow' } })
  owner = await bed.makeOwner()
})
afterAll(async () => {
  receiver?.close()
  await bed?.close()
})

interface Rule {
  name: string
  condition: Record<string, unknown>
  webhook: { host: string; format: string } | null
}

async function rules(): Promise<Rule[]> {
  const { body } = await owner.call('GET', 'alerts?sort=name&limit=100')
  return (body as { data: Rule[] }).data
}

test('the usual rules are reviewed and created, tested, and offered once', async () => {
  const page = await bed.page()
  await bed.signIn(page)
  await page.goto('/console/alerts')
  await page.getByRole('button', { name: 'Watch the usual' }).click()
  const review = page.getByRole('dialog', { name: 'Watch the usual' })
  const boxes = review.getByRole('checkbox')
  await boxes.first().waitFor()
  const { body } = await owner.call('GET', 'alerts/usual')
  const usual = (body as { data: Rule[] }).data
  expect(await boxes.count()).toBe(usual.length)
  for (const { name } of usual) await review.getByLabel(name).waitFor()
  await axe(page)
  await review.getByLabel('The ledger is behind').uncheck()
  await review.getByLabel(/^Webhook URL/).fill('nonsense')
  await review.getByRole('button', { name: `Create ${usual.length - 1} rules` }).click()
  await review.getByText('Write a URL that begins').waitFor()
  await review.getByLabel(/^Webhook URL/).fill(`${receiver.origin}/in`)
  await review.getByRole('combobox', { name: 'Message format' }).click()
  await page.getByRole('option', { name: 'Slack' }).click()
  await review.getByRole('button', { name: `Create ${usual.length - 1} rules` }).click()
  await page.getByRole('gridcell', { name: 'A channel is down' }).click()
  const made = await rules()
  const wanted = usual.map(({ name }) => name).filter((name) => name !== 'The ledger is behind')
  expect(made.map(({ name }) => name).sort()).toEqual(wanted.sort())
  expect(new Set(made.map(({ webhook }) => webhook?.format))).toEqual(new Set(['slack']))

  receiver.answers.status = 404
  receiver.answers.text = 'no_service'
  const sheet = page.getByRole('complementary')
  await sheet.getByRole('button', { name: 'Send a test' }).click()
  await sheet.getByText('Test not accepted. The receiver answered 404:').waitFor()
  await sheet.getByText('no_service').waitFor()
  expect(JSON.parse(receiver.deliveries.at(-1)?.text ?? '')).toMatchObject({
    blocks: [{ text: { text: 'Test: A channel is down' } }, {}, {}],
  })
  await axe(page)

  await page.getByRole('button', { name: 'Watch the usual' }).click()
  await review.getByText('Exists already: A channel is down').waitFor()
  await review.getByRole('button', { name: 'Create 1 rule' }).click()
  await page.getByRole('gridcell', { name: 'The ledger is behind' }).waitFor()
  await page.getByRole('button', { name: 'Watch the usual' }).click()
  await review.getByText('All of the usual rules exist already').waitFor()
  expect(await rules()).toHaveLength(usual.length)
})

test('a rule is narrowed to a key that is found by its name', async () => {
  const made = async (what: string, body: object): Promise<string> => {
    const answer = await owner.call('POST', what, body)
    expect(answer.status).toBe(201)
    return String(answer.body.id)
  }
  await made('groups', { name: 'picked', models: ['*'], channels: ['*'] })
  await made('tenants', { name: 'globex' })
  await made('keys', { tenant: 'globex', name: 'build', group: 'picked' })
  const deploy = await made('keys', { tenant: 'globex', name: 'deploy', group: 'picked' })
  const page = await bed.page({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  await bed.signIn(page)
  await page.goto('/console/alerts?tab=rules')
  await page.getByRole('button', { name: 'Create rule' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create rule' })
  await dialog.getByLabel(/^Name/).fill('deploy from elsewhere')
  await dialog.getByRole('combobox', { name: 'Condition' }).click()
  await page.getByRole('option', { name: 'A key is used from a new network' }).click()
  await dialog.getByRole('combobox', { name: 'Key' }).fill('depl')
  await page.getByRole('option', { name: 'globex/deploy' }).click()
  await axe(page)
  await fitsSideways(page)
  const button = dialog.getByRole('button', { name: 'Create rule' })
  const box = await button.boundingBox()
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844)
  await button.click()
  await dialog.waitFor({ state: 'hidden' })
  const rule = (await rules()).find(({ name }) => name === 'deploy from elsewhere')
  expect(rule?.condition).toEqual({ kind: 'new_network', key_id: deploy, learning_days: 7 })
})
