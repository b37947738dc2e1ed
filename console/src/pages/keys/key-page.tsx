import { Button, Modal } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { type Key, keyQuery, type MadeKey, usesQuery } from '../../api/access-queries.ts'
import { useMay, useSession } from '../../api/session.ts'
import type { Tagged } from '../../api/tagged.ts'
import { Copy } from '../../parts/copy.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { Clock, Moment, None } from '../../parts/formatted-values.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { Rows } from '../../parts/rows.tsx'
import classes from '../access/access.module.css'
import { budgetInWords, callersOf, limitsInWords } from '../access/access-words.ts'
import { ManagedByFile } from '../access/managed-by-file.tsx'
import { NotThere } from '../access/not-there.tsx'
import { SpendByModel } from '../access/spend-by-model.tsx'
import { SpendChart } from '../access/spend-chart.tsx'
import { BlockKey, DisableKey, RevokeKey, RotateKey, UnblockKey } from './key-acts.tsx'
import { KeyBlocked } from './key-blocked.tsx'
import { KeyState } from './key-cells.tsx'
import { EditKeyForm } from './key-form.tsx'
import { SecretOnce } from './secret-once.tsx'
import { WhatIsLeft } from './what-is-left.tsx'
import { whyNot } from './why-not.ts'

type Dialog = 'edit' | 'rotate' | 'disable' | 'block' | 'unblock' | 'revoke' | undefined

/** One key: what it may, what is left of its limits, who uses it, and what it cost. */
export function KeyPage() {
  const { id = '' } = useParams({ strict: false })
  const query = useQuery(keyQuery(id))
  if (query.data === undefined)
    return <NotThere what="Key" query={query} back={<Link to="/console/keys">Show all keys</Link>} />
  return <KeyView tagged={query.data} />
}

function KeyView({ tagged }: { tagged: Tagged<Key> }) {
  const of = tagged.data
  const may = useMay()
  const isMember = useSession().role === 'member'
  const queryClient = useQueryClient()
  const [dialog, setDialog] = useState<Dialog>()
  const [made, setMade] = useState<MadeKey>()
  const close = () => setDialog(undefined)
  const reread = () => queryClient.invalidateQueries({ queryKey: ['keys'] })
  const isFile = of.managed_by === 'file'
  const mayWrite = may('keys', 'write') && of.revoked_at === null
  const mayChange = mayWrite && !isFile
  const mayUnblock = mayWrite && whyNot('Unblock', of, isMember) === undefined
  const mayEnable = !of.disabled || !isMember || of.disabled_by === 'member'
  return (
    <Page
      title={of.name}
      lead={<KeyState of={of} />}
      actions={
        <>
          {mayChange ? (
            <>
              <Button variant="default" onClick={() => setDialog('edit')}>
                Edit key
              </Button>
              <Button variant="default" onClick={() => setDialog('rotate')}>
                Rotate secret
              </Button>
              {mayEnable ? (
                <Button variant="default" onClick={() => setDialog('disable')}>
                  {of.disabled ? 'Enable key' : 'Disable key'}
                </Button>
              ) : null}
            </>
          ) : null}
          {mayWrite && of.blocked === null ? (
            <Button color="var(--tg-bad)" variant="outline" onClick={() => setDialog('block')}>
              Block key
            </Button>
          ) : null}
          {mayChange ? (
            <Button color="var(--tg-bad)" variant="outline" onClick={() => setDialog('revoke')}>
              Revoke key
            </Button>
          ) : null}
        </>
      }
    >
      <KeyBlocked of={of} {...(mayUnblock ? { onUnblock: () => setDialog('unblock') } : {})} />
      {isFile ? <ManagedByFile what="key" name={of.name} /> : null}
      {of.disabled && of.disabled_by === 'admin' && isMember ? (
        <p className="tg-quiet">An admin has disabled this key. Only an admin can enable it again.</p>
      ) : null}
      <div className={classes.columns}>
        <WhatIsLeft of="key" id={of.id} />
        <Section title="Permissions">
          <WhatItMay of={of} />
        </Section>
      </div>
      <LastUse of={of} />
      <SpendChart of="key" id={of.id} filter={{ key_id: of.id }} hasSubKeys={of.sub_keys !== null} />
      <SpendByModel of={{ key: of.id }} filter={{ key_id: of.id }} />
      <FormModal opened={dialog === 'edit'} onClose={close} size="xl" title={`Edit ${of.name}`}>
        <EditKeyForm of={tagged} onDone={close} onCancel={close} />
      </FormModal>
      <RotateKey
        of={tagged}
        opened={dialog === 'rotate'}
        onClose={close}
        onMade={(key) => {
          close()
          setMade(key)
          void reread()
        }}
      />
      <DisableKey of={tagged} opened={dialog === 'disable'} onClose={close} onDone={reread} />
      <BlockKey of={tagged} opened={dialog === 'block'} onClose={close} onDone={reread} />
      <UnblockKey of={tagged} opened={dialog === 'unblock'} onClose={close} onDone={reread} />
      <RevokeKey of={tagged} opened={dialog === 'revoke'} onClose={close} onDone={reread} />
      <Modal
        opened={made !== undefined}
        onClose={() => setMade(undefined)}
        size="xl"
        title={`The new secret of ${of.name}`}
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
      >
        {made === undefined ? null : <SecretOnce made={made} onClose={() => setMade(undefined)} />}
      </Modal>
    </Page>
  )
}

function WhatItMay({ of }: { of: Key }) {
  const isMember = useSession().role === 'member'
  const asGroup = <span className="tg-quiet">as its group</span>
  return (
    <Facts
      facts={[
        [
          'Tenant',
          <Link key="tenant" className={classes.link} to="/console/tenants/$id" params={{ id: of.tenant_id }}>
            {of.tenant}
          </Link>,
        ],
        [
          'Group',
          isMember ? (
            of.group
          ) : (
            <Link key="group" className={classes.link} to="/console/groups/$id" params={{ id: of.group_id }}>
              {of.group}
            </Link>
          ),
        ],
        ['Models', of.allowed_models?.join(', ') ?? 'all models of its group'],
        ['Channels, endpoints', 'those of its group and its models'],
        ['Networks', of.allowed_cidrs?.join(', ') ?? 'any address'],
        ['Limits', of.limits === null ? asGroup : (limitsInWords(of.limits) ?? 'unbounded')],
        ['Budget', budgetInWords(of.budget) ?? 'none of its own'],
        ['Expires', <Moment key="expires" at={of.expires_at} none="never" />],
        [
          'Secret begins',
          <span key="hint" className="tg-mono">
            {of.hint}
          </span>,
        ],
        ...(of.former_secret_until === null
          ? []
          : [['Former secret works until', <Moment key="former" at={of.former_secret_until} />] as const]),
        ['Bodies in the log', of.capture],
        [
          'Answers in the log',
          of.capture_answers === null ? asGroup : of.capture_answers ? 'kept' : 'not kept',
        ],
        [
          'Sees',
          of.usage_scope === 'key' ? 'its own rows, jobs and files' : 'rows, jobs and files of its tenant',
        ],
        ['Sub-keys', of.sub_keys === null ? 'it may make none' : `up to ${of.sub_keys} at once`],
        ...(of.parent_id === null
          ? []
          : [
              [
                'Made by',
                <Link
                  key="parent"
                  className={classes.link}
                  to="/console/keys/$id"
                  params={{ id: of.parent_id }}
                >
                  the key above it
                </Link>,
              ] as const,
            ]),
        ['Made', <Moment key="made" at={of.created_at} />],
        [
          'Id',
          <span key="id" className="tg-mono">
            {of.id} <Copy text={of.id} what="the id" />
          </span>,
        ],
      ]}
    />
  )
}

function LastUse({ of }: { of: Key }) {
  const uses = useQuery(usesQuery(of.id, 30 * 24, 50))
  const callers = callersOf(uses.data?.data ?? [])
  const problem = usePart('the last use', uses)
  if (problem === null) return null
  return (
    <Section title="Last use">
      {problem !== undefined ? (
        problem
      ) : uses.data === undefined ? null : (
        <Rows
          label="Who used the key last"
          rows={callers}
          idOf={({ address, program }) => `${address} ${program}`}
          none="This key was not used in the last 30 days."
          foot={`Callers of the newest ${uses.data.data.length} requests`}
          columns={[
            {
              head: 'Network address',
              cell: ({ address }) =>
                address === null ? (
                  <None />
                ) : (
                  <Link
                    className={classes.link}
                    to="/console/log"
                    search={{ key_id: of.id, client_address: address, last: '30d' }}
                  >
                    {address}
                  </Link>
                ),
            },
            { head: 'Program', cell: ({ program }) => program ?? <None /> },
            { head: 'Requests', align: 'right', cell: ({ requests }) => requests },
            { head: 'Last use', align: 'right', cell: ({ last }) => <Clock at={last} /> },
          ]}
        />
      )}
    </Section>
  )
}
