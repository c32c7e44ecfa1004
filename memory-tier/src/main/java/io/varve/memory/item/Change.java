package io.varve.memory.item;

/** What happened to a key, as told to {@link ChangeListener}s: the effect, not the command that had it. */
public enum Change {
    /** A value was written, new or over an old one, with its expiry. */
    SET,
    /** The expiry time was set or changed; the value was not. */
    EXPIRY_SET,
    /** The expiry time was taken away. */
    PERSISTED,
    /** A client deleted the key. */
    DELETED,
    /** Its time came. */
    EXPIRED,
    /** The time of some of its fields came; it has others. */
    FIELDS_EXPIRED,
    /** The time of the last of its fields came, and it is gone with them. */
    EMPTIED,
    /** It fell to pressure, and is gone. */
    EVICTED,
    /** It fell to pressure and lives on in the tier below: nobody can see a difference, until that lets it go without a word. */
    FELL
}
