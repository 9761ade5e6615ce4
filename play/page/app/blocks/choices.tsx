import { type ReactNode, useId, useState } from 'react';
import { useWorld } from '../context.ts';
import { type Json, objectOf, stringOf } from '../json.ts';
import { initialOf, isBoxes, isMany, type Option, optionsOf } from './options.ts';

interface Described {
  readonly id?: string;
  readonly label?: string;
  readonly labelledBy?: string;
  readonly describedBy?: string;
  readonly invalid?: boolean;
}

interface ChooserProps extends Described {
  readonly element: Json;
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
  readonly busy?: boolean;
}

/** Select menus, radio buttons and checkboxes, as native controls: they are at home on every device and screen reader. */
export function Chooser(props: ChooserProps): ReactNode {
  const options = useWorld(({ team }) => team);
  const all = optionsOf(props.element, { team: options });
  return isBoxes(props.element) ? <Boxes {...props} options={all} /> : <List {...props} options={all} />;
}

function List({
  element,
  options,
  chosen,
  onChoose,
  busy,
  ...described
}: ChooserProps & { options: readonly Option[] }) {
  const groups = [...new Set(options.map(({ group }) => group))];
  const item = ({ value, label }: Option): ReactNode => (
    <option key={value} value={value}>
      {label}
    </option>
  );
  return (
    <select
      className="select"
      id={described.id}
      aria-label={described.label}
      aria-describedby={described.describedBy}
      aria-invalid={described.invalid}
      disabled={busy}
      value={chosen[0] ?? ''}
      onChange={({ target }) => onChoose(target.value === '' ? [] : [target.value])}
    >
      <option value="">{stringOf(objectOf(element.placeholder).text) || 'Choose an option'}</option>
      {groups.map((group) => {
        const items = options.filter((option) => option.group === group).map(item);
        return group === undefined ? (
          items
        ) : (
          <optgroup key={group} label={group}>
            {items}
          </optgroup>
        );
      })}
    </select>
  );
}

function Boxes({
  element,
  options,
  chosen,
  onChoose,
  busy,
  ...described
}: ChooserProps & { options: readonly Option[] }) {
  const name = useId();
  const many = isMany(element);
  const toggle = (value: string, on: boolean): void => {
    if (!many) onChoose([value]);
    else onChoose(on ? [...chosen, value] : chosen.filter((one) => one !== value));
  };
  return (
    <div className="boxes" {...(many ? { role: 'group' } : { role: 'radiogroup' })} {...namesOf(described)}>
      {options.map(({ value, label, description }) => (
        <label key={value} className="box">
          <input
            type={many ? 'checkbox' : 'radio'}
            name={name}
            disabled={busy}
            checked={chosen.includes(value)}
            onChange={({ target }) => toggle(value, target.checked)}
          />
          <span>
            {label}
            {description !== undefined && <small>{description}</small>}
          </span>
        </label>
      ))}
    </div>
  );
}

const namesOf = ({ label, labelledBy, describedBy }: Described) => ({
  'aria-label': label,
  'aria-labelledby': labelledBy,
  'aria-describedby': describedBy || undefined,
});

interface ChoicesProps {
  readonly element: Json;
  readonly busy: boolean;
  readonly onPick: (chosen: readonly string[]) => void;
}

/** The same in a message: each change goes to the app at once, with the whole selection. */
export function Choices({ element, busy, onPick }: ChoicesProps): ReactNode {
  const [chosen, setChosen] = useState(() => initialOf(element));
  const label = stringOf(objectOf(element.placeholder).text) || 'Choose an option';
  return (
    <Chooser
      element={element}
      chosen={chosen}
      busy={busy}
      label={label}
      onChoose={(next) => {
        setChosen(next);
        // Back to the placeholder is no choice; the last box can be emptied.
        if (next.length > 0 || isMany(element)) onPick(next);
      }}
    />
  );
}
