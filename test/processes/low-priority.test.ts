import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeBed } from '../support/bed.ts'
import { temporaryDirectory } from '../support/embedded.ts'
import { gatewayYaml } from '../support/gateway-yaml.ts'
import { startTollgate } from '../support/tollgate.ts'

test('a gateway of a low priority that has no right to raise it reads large bodies in its threads', async () => {
  const node = join(temporaryDirectory(), 'node')
  // Root may raise it, unless the right is taken away.
  const without = process.getuid?.() === 0 ? 'setpriv --bounding-set=-sys_nice' : ''
  writeFileSync(node, `#!/bin/sh\nexec ${without} nice -n 10 '${process.execPath}' "$@"\n`, { mode: 0o755 })
  const bed = await makeBed(({ databaseUrl, upstreamUrl }) =>
    startTollgate({ databaseUrl, gatewayYaml: gatewayYaml(upstreamUrl), node }),
  )
  onTestFinished(() => bed.close())
  const messages = [{ role: 'user', content: 'x'.repeat(4_000_000) }]
  expect((await bed.chat({ model: 'any', messages })).status).toBe(200)
  expect(await bed.tollgate.stop()).toBe(0)
})
