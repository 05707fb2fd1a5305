/** Forgets what was put in first, so that a host that runs for months does not grow. */
export class Few<V> extends Map<string, V> {
  constructor(readonly most = 500) {
    super();
  }

  override set(key: string, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.most) this.delete(this.keys().next().value as string);
    return this;
  }
}
