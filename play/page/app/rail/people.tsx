import type { ReactNode } from 'react';
import { useName, useRemember, useSession, useWorld } from '../context.ts';
import { Avatar } from '../parts/avatar.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { unseenOf } from '../state/notified.ts';
import type { Session } from '../state/session.ts';
import type { World } from '../state/world.ts';
import { peopleOf, roleOf } from './roles.ts';

/** Who one is on this page, and the switch to somebody else. */
export function People(): ReactNode {
  const team = useWorld((world) => world.team);
  const world = useWorld((now) => now);
  const session = useSession((now) => now);
  const { person } = session;
  const remember = useRemember();
  const nameOf = useName();
  const me = team.users[person];
  return (
    <Menu
      label="Switch person"
      ownWords
      className="rail-me"
      items={peopleOf(team).map((one) => ({
        id: one.id,
        label: one.real_name,
        detail: roleOf(one, team),
        checked: one.id === person,
        mark: <Avatar id={one.id} name={one.real_name} small />,
        count: countOf(unseenOf(world, session, { person: one.id })),
        onPick: () => remember((now) => placeOf(world, now, one.id)),
      }))}
    >
      <Avatar id={person} name={nameOf(person)} />
      <span className="rail-me-words">
        <strong>
          <span className="only-heard">You are </span>
          {nameOf(person)}
        </strong>
        <small>{me === undefined ? '' : roleOf(me, team)}</small>
        <span className="only-heard"> Switch person</span>
      </span>
      <Icon name="chevron" />
    </Menu>
  );
}

/** Another person stays where one is if they are a member there, else goes to their first channel. */
function placeOf({ team }: World, { channel, thread }: Session, person: string): Partial<Session> {
  if (team.channels[channel]?.members.includes(person)) return { person, channel, thread, sought: undefined };
  const first = Object.values(team.channels).find(
    ({ members, is_archived, kind }) => kind !== 'im' && !is_archived && members.includes(person),
  );
  return { person, channel: first?.id ?? '', thread: undefined, sought: undefined };
}

const countOf = (of: number) => ({ of, what: of === 1 ? 'new notification' : 'new notifications' });
