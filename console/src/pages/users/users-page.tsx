import { Button, Menu, Modal } from '@mantine/core'
import { KebabHorizontalIcon } from '@primer/octicons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay, useSession } from '../../api/session.ts'
import type { Tagged } from '../../api/tagged.ts'
import { useTenantName } from '../../api/tenant-names.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { ListRows, Rows, type RowsColumn } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { type UserAct, UserActs } from './user-acts.tsx'
import { InviteForm, LinkOnce, RoleForm } from './user-forms.tsx'
import { userQuery } from './user-query.ts'

type User = Schema<'User'>

/** What shall be done with whom. */
interface Chosen {
  user: User
  act: UserAct | 'role'
}

/** Who may see and change what. Owners change it, admins read it. */
export function UsersPage() {
  const mayChange = useMay()('users', 'write')
  const queryClient = useQueryClient()
  const [isInviting, setInviting] = useState(false)
  const [link, setLink] = useState<Schema<'MadeLink'>>()
  const [chosen, setChosen] = useState<Chosen>()
  const act = chosen?.act
  const close = () => setChosen(undefined)
  const list = useList<User>({
    queryKey: ['users', 'list'],
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/users', { params: { query: { limit: 100, ...page } }, signal })),
  })
  const columns = useColumns(mayChange ? setChosen : undefined)
  return (
    <Page
      title="Users"
      actions={mayChange ? <Button onClick={() => setInviting(true)}>Invite user</Button> : undefined}
    >
      <ListRows
        label="Users"
        things="users"
        list={list}
        idOf={({ id }) => id}
        none="There is no user yet."
        columns={columns}
      />
      <Invitations mayChange={mayChange} />
      <Modal
        opened={isInviting}
        onClose={() => setInviting(false)}
        title="Invite a user"
        closeOnClickOutside={false}
      >
        <InviteForm
          onCancel={() => setInviting(false)}
          onMade={(made) => {
            setInviting(false)
            setLink(made)
            void queryClient.invalidateQueries({ queryKey: ['users'] })
          }}
        />
      </Modal>
      <Modal
        opened={chosen?.act === 'role'}
        onClose={close}
        title={`Change the role of ${chosen?.user.email ?? ''}`}
      >
        {chosen === undefined ? null : (
          <WithUser id={chosen.user.id}>{(of) => <RoleForm of={of} onClose={close} />}</WithUser>
        )}
      </Modal>
      {chosen === undefined || act === undefined || act === 'role' ? null : (
        <WithUser id={chosen.user.id}>
          {(of) => <UserActs of={of} act={act} onClose={close} onLink={setLink} />}
        </WithUser>
      )}
      <Modal
        opened={link !== undefined}
        onClose={() => setLink(undefined)}
        size="lg"
        title={link?.purpose === 'reset' ? 'The link for a new password' : 'The link of the invitation'}
        closeOnClickOutside={false}
      >
        {link === undefined ? null : <LinkOnce link={link} onClose={() => setLink(undefined)} />}
      </Modal>
    </Page>
  )
}

/** `choose`: absent for those who may not change users. */
function useColumns(choose: ((chosen: Chosen) => void) | undefined): readonly RowsColumn<User>[] {
  const session = useSession()
  const tenantName = useTenantName()
  return [
    { head: 'E-mail', cell: ({ email, id }) => `${email}${id === session.id ? ' (you)' : ''}` },
    {
      head: 'Role',
      keeps: true,
      cell: ({ role, tenant_id }) => (tenant_id === null ? role : `${role} of ${tenantName(tenant_id)}`),
    },
    {
      head: 'State',
      keeps: true,
      cell: ({ disabled_at }) =>
        disabled_at === null ? <State tone="good">enabled</State> : <State tone="quiet">disabled</State>,
    },
    {
      head: 'Second factor',
      keeps: true,
      cell: ({ has_second_factor, has_password }) =>
        has_second_factor ? (
          <State tone="good">on</State>
        ) : has_password ? (
          <State tone="warning">off</State>
        ) : (
          <span className="tg-quiet">by single sign-on</span>
        ),
    },
    {
      head: 'Last sign-in',
      keeps: true,
      cell: ({ last_sign_in_at }) => <Moment at={last_sign_in_at} none="never" />,
    },
    {
      head: 'Actions',
      align: 'right',
      cell: (user) =>
        choose === undefined ? null : <ActMenu user={user} choose={(act) => choose({ user, act })} />,
    },
  ]
}

/** Reads a user before a dialog about it opens. */
function WithUser({ id, children }: { id: string; children(of: Tagged<User>): ReactNode }) {
  const user = useQuery(userQuery(id))
  if (user.error !== null) return <Problem error={user.error} onAgain={() => void user.refetch()} />
  return user.data === undefined ? <Waiting rows={3} /> : children(user.data)
}

function ActMenu({ user, choose }: { user: User; choose(act: UserAct | 'role'): void }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" color="gray" px={8} aria-label={`Actions for ${user.email}`}>
          <KebabHorizontalIcon size={16} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => choose('role')}>Change role</Menu.Item>
        <Menu.Item onClick={() => choose('reset')}>Make a password link</Menu.Item>
        <Menu.Item onClick={() => choose('sessions')}>End all sessions</Menu.Item>
        {user.has_second_factor ? (
          <Menu.Item onClick={() => choose('factor')}>Remove second factor</Menu.Item>
        ) : null}
        <Menu.Divider />
        <Menu.Item onClick={() => choose('disable')}>
          {user.disabled_at === null ? 'Disable user' : 'Enable user'}
        </Menu.Item>
        <Menu.Item onClick={() => choose('delete')} color="red">
          Delete user
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function Invitations({ mayChange }: { mayChange: boolean }) {
  const queryClient = useQueryClient()
  const tenantName = useTenantName()
  const invitations = useQuery({
    queryKey: ['users', 'invitations'],
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/invitations', { signal })),
  })
  const takeBack = async (id: string) => {
    try {
      await ask(api.DELETE('/admin/v1/invitations/{id}', { params: { path: { id } } }))
      await queryClient.invalidateQueries({ queryKey: ['users', 'invitations'] })
      done('The link is taken back: it does not work any more')
    } catch (error) {
      fails('Taking the link back', error)
    }
  }
  return (
    <Section title="Open invitations">
      {invitations.isError ? (
        <Problem error={invitations.error} onAgain={() => void invitations.refetch()} />
      ) : invitations.data === undefined ? null : (
        <Rows
          label="Open invitations"
          rows={invitations.data.data}
          idOf={({ id }) => id}
          none="No invitation is open."
          columns={[
            { head: 'E-mail', cell: ({ email }) => email },
            {
              head: 'Role',
              cell: ({ role, tenant_id }) =>
                tenant_id === null ? role : `${role} of ${tenantName(tenant_id)}`,
            },
            { head: 'Made by', cell: ({ made_by }) => made_by },
            { head: 'Works until', keeps: true, cell: ({ expires_at }) => <Moment at={expires_at} /> },
            {
              head: 'Actions',
              align: 'right',
              cell: ({ id }) =>
                mayChange ? (
                  <Button variant="subtle" color="red" onClick={() => void takeBack(id)}>
                    Take back
                  </Button>
                ) : null,
            },
          ]}
        />
      )}
    </Section>
  )
}
