import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { gatewayYaml } from '../support/gateway-yaml.ts'
import { startProcessTestbed } from '../support/process-testbed.ts'
import { patient, temporary } from './several.ts'

const adminToken = 'an-admin-token-for-credentials'

/** A gateway whose only credential is in a file as Kubernetes mounts it: a link through `..data`, which is replaced. */
async function startMounted() {
  const mount = temporary()
  const path = join(mount, 'vendor')
  let version = 0
  const publish = (write: (folder: string) => void) => {
    const name = `..${version++}`
    mkdirSync(join(mount, name))
    write(join(mount, name))
    symlinkSync(name, join(mount, '..data_tmp'))
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'))
  }
  const secretIs = (text: string) => publish((folder) => writeFileSync(join(folder, 'vendor'), text))
  secretIs('sk-first-0001\n')
  symlinkSync('..data/vendor', path)
  const bed = await startProcessTestbed({
    env: { ADMIN_TOKEN: adminToken },
    yaml: (url) => gatewayYaml(url).replace('"upstream-credential-0001"', `"file:${path}"`),
  })
  onTestFinished(() => bed.close())
  const sent = async () => {
    const before = bed.upstream.requests.length
    const answer = await bed.chat({ model: 'priced', messages: [{ role: 'user', content: 'x' }] })
    await answer.arrayBuffer()
    expect(answer.status).toBe(200)
    return bed.upstream.requests[before]?.headers.authorization
  }
  return { bed, path, publish, secretIs, sent }
}

test('a credential in a file follows when Kubernetes swaps the link above it, without a restart or a refused request', async () => {
  const { bed, secretIs, sent } = await startMounted()
  expect(await sent()).toBe('Bearer sk-first-0001')
  for (const secret of ['sk-second-0002', 'sk-third-0003']) {
    secretIs(`${secret}\n`)
    // Each of these requests must be answered with 200.
    await expect.poll(sent, patient).toBe(`Bearer ${secret}`)
  }
  const { sql } = bed.database
  const texts = await Promise.all([
    sql`SELECT * FROM requests`,
    sql`SELECT * FROM audit_log`,
    sql`SELECT * FROM gateway_file`,
    sql`SELECT * FROM channel_credentials`,
  ])
  const headers = { authorization: `Bearer ${adminToken}` }
  const exported = await fetch(`${bed.tollgate.url}/admin/v1/export`, { headers })
  expect(exported.status).toBe(200)
  const all = [
    JSON.stringify(texts),
    await exported.text(),
    bed.tollgate.stderr(),
    bed.tollgate.stdout(),
  ].join('\n')
  expect(all).toContain('scripted')
  expect(all).not.toMatch(/sk-(first|second|third)/)
})

test('while the file is missing, empty, a folder, too long or half written, the former credential serves; the whole one follows', async () => {
  const { bed, path, publish, secretIs, sent } = await startMounted()
  const file = (write: (path: string) => void) => () => publish((folder) => write(join(folder, 'vendor')))
  const states: [change: () => void, said: string][] = [
    [file(() => {}), 'cannot be read (ENOENT)'],
    [file((at) => writeFileSync(at, '')), 'is empty'],
    [file((at) => mkdirSync(at)), 'cannot be read (EISDIR)'],
    [file((at) => writeFileSync(at, 'x'.repeat(9_000))), 'must be one line of at most 8192'],
    [file((at) => writeFileSync(at, 'sk-half\nsk-wri')), 'must be one line of at most 8192'],
  ]
  let seen = 0
  for (const [change, said] of states) {
    change()
    const complaints = () => bed.tollgate.stderr().slice(seen)
    await expect.poll(complaints, patient).toContain(`the file ${path} ${said}`)
    expect(complaints()).toContain('gateway.yaml was not applied; the previous configuration stays in force')
    expect(await sent()).toBe('Bearer sk-first-0001')
    seen = bed.tollgate.stderr().length
  }
  secretIs('sk-whole-0001')
  await expect.poll(sent, patient).toBe('Bearer sk-whole-0001')

  // A file instead of the link, written while the gateway looks.
  unlinkSync(path)
  writeFileSync(path, 'sk-own')
  writeFileSync(path, 'sk-own-file-0001\n')
  await expect.poll(sent, patient).toBe('Bearer sk-own-file-0001')
  rmSync(path)
  await expect.poll(() => bed.tollgate.stderr().slice(seen), patient).toContain('cannot be read (ENOENT)')
  expect(await sent()).toBe('Bearer sk-own-file-0001')
  expect(bed.tollgate.stderr()).not.toMatch(/sk-/)
})
