import { Button, Group, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { modelNamesQuery } from '../../api/who.ts'
import { Code } from '../../parts/code.tsx'
import { Notice } from '../../parts/tone.tsx'
import { gatewayUrl } from '../../site.ts'
import classes from '../who/parts.module.css'
import { snippetsOf } from './snippets.ts'

/** The secret of a new key, the only time that it is shown, and how to use it. */
export function SecretOnce({
  made,
  onClose,
}: {
  made: { name: string; secret: string; allowed_models: readonly string[] | null }
  onClose?(): void
}) {
  const may = useMay()
  const models = useQuery({ ...modelNamesQuery, enabled: may('catalog') && made.allowed_models === null })
  const model = made.allowed_models?.[0] ?? models.data?.[0] ?? 'MODEL'
  const snippets = snippetsOf(gatewayUrl, made.secret, model)
  return (
    <div className={classes.secret}>
      <Notice tone="warning">
        Copy the secret of <strong>{made.name}</strong> now. It is not shown again: the gateway stores only a
        hash of it. Whoever has it can spend the tenant's money.
      </Notice>
      <Code text={made.secret} what="the secret" />
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List aria-label="How to use it">
          {snippets.map(({ id, title }) => (
            <Tabs.Tab key={id} value={id}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ id, title, text }) => (
          <Tabs.Panel key={id} value={id} pt={8}>
            <Code text={text} what={`the code for ${title}`} />
          </Tabs.Panel>
        ))}
      </Tabs>
      {onClose === undefined ? null : (
        <Group justify="flex-end">
          <Button onClick={onClose}>I have copied the secret</Button>
        </Group>
      )}
    </div>
  )
}
