import { type ReactNode, useState } from 'react';
import type { Trouble } from '../../contract.ts';
import { useSession, useWorld } from '../context.ts';
import { useDo } from '../conversation/use-do.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Menu } from '../parts/menu.tsx';

/** The two menus of things that go wrong, and what to watch for after choosing one. */
export function Troubles(): ReactNode {
  const troubles = useWorld((world) => world.troubles);
  const on = useWorld((world) => world.troublesOn);
  const isReal = useWorld((world) => world.isRealCluster);
  const act = useDo();
  const [pending, setPending] = useState<Trouble>();
  const [watch, setWatch] = useState<Trouble>();
  const isOn = ({ lasts, id }: Trouble): boolean => lasts && on.includes(id);
  const make = async (trouble: Trouble, at: object = {}): Promise<void> => {
    setPending(undefined);
    const answer = await act({ kind: 'trouble', id: trouble.id, ...at });
    setWatch(answer.ok && !isOn(trouble) ? trouble : undefined);
  };
  const itemsOf = (where: Trouble['where']) =>
    troubles
      .filter((trouble) => trouble.where === where)
      .map((trouble) => ({
        id: trouble.id,
        label: isOn(trouble) ? (trouble.end ?? `End: ${trouble.title}`) : trouble.title,
        detail: trouble.watch,
        onPick: () => (trouble.needsPod && !isOn(trouble) ? setPending(trouble) : void make(trouble)),
      }));
  const active = troubles.filter(({ id }) => on.includes(id));
  return (
    <>
      {!isReal && (
        <Menu label="Make it worse" className="button button-small" items={itemsOf('cluster')}>
          Make it worse
        </Menu>
      )}
      <Menu label="Slack trouble" className="button button-small" items={itemsOf('slack')}>
        Slack trouble
      </Menu>
      {active.length > 0 && (
        <p className="troubles-on" role="status">
          Now: {active.map(({ title }) => title).join(', ')}
        </p>
      )}
      {watch !== undefined && (
        <p className="watch" role="status">
          <strong>{watch.title}.</strong> {watch.watch}{' '}
          <button type="button" className="link-button" onClick={() => setWatch(undefined)}>
            Got it
          </button>
        </p>
      )}
      {pending !== undefined && (
        <PodDialog trouble={pending} onClose={() => setPending(undefined)} onPick={(at) => void make(pending, at)} />
      )}
    </>
  );
}

interface PodDialogProps {
  readonly trouble: Trouble;
  readonly onClose: () => void;
  readonly onPick: (at: { readonly namespace: string; readonly pod: string; readonly container?: string }) => void;
}

/** Which pod it shall happen to: first offered is the one whose log is shown. */
function PodDialog({ trouble, onClose, onPick }: PodDialogProps): ReactNode {
  const pods = useWorld((world) => world.pods);
  const log = useSession((session) => session.log);
  const keyOf = ({ namespace, pod }: { namespace: string; pod: string }): string => `${namespace}/${pod}`;
  const first = pods.find(({ namespace, name }) => log?.namespace === namespace && log.pod === name) ?? pods[0];
  const [chosen, setChosen] = useState(first === undefined ? '' : keyOf({ ...first, pod: first.name }));
  const [namespace = '', pod = ''] = chosen.split('/');
  return (
    <Dialog
      title={trouble.title}
      onClose={onClose}
      footer={
        <>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" className="button button-danger" onClick={() => onPick({ namespace, pod })}>
            {trouble.title}
          </button>
        </>
      }
    >
      <p>{trouble.watch}</p>
      <label className="field">
        <span>Pod</span>
        <select className="select" value={chosen} onChange={({ target }) => setChosen(target.value)}>
          {pods.map((one) => (
            <option key={one.uid} value={`${one.namespace}/${one.name}`}>
              {one.namespace}/{one.name}
            </option>
          ))}
        </select>
      </label>
    </Dialog>
  );
}
