import { Button, Group, Skeleton } from '@mantine/core'
import type { MadeKey } from '../../api/access-queries.ts'
import { Code } from '../../parts/code.tsx'
import { Snippets } from '../../parts/snippets.tsx'
import { Notice } from '../../parts/state.tsx'
import { gatewayUrl } from '../../site.ts'
import classes from '../access/access.module.css'
import { useModels } from '../playground/choices.ts'
import { firstSnippets } from '../playground/first-snippets.ts'

/** The secret of a new key, the only time that it is shown, and how to use it. */
export function SecretOnce({
  made,
  onClose,
}: {
  made: Pick<MadeKey, 'name' | 'secret' | 'group_id' | 'allowed_models'>
  onClose?(): void
}) {
  const { models, isPending } = useModels(made, '/v1/chat/completions')
  const [model = 'MODEL'] = models
  return (
    <div className={classes.secret}>
      <Notice tone="warning">
        Copy the secret of <strong>{made.name}</strong> now. It is not shown again: the gateway stores only a
        hash of it. Whoever has it can spend the tenant's money.
      </Notice>
      <Code text={made.secret} what="the secret" />
      {isPending ? (
        <Skeleton height={348} radius={6} />
      ) : (
        <Snippets kind="sdk" snippets={firstSnippets(gatewayUrl, model, made.secret)} />
      )}
      {onClose === undefined ? null : (
        <Group justify="flex-end">
          <Button onClick={onClose}>I have copied the secret</Button>
        </Group>
      )}
    </div>
  )
}
