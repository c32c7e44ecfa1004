package io.varve.flash.store;

/** How far a change has got when the call that made it returns. What was changed before is at least as far. */
public enum Handover {
    /** In the process's own buffers: lost if the process is killed. */
    BUFFERED,
    /** With the operating system: lost at a power cut. */
    TO_SYSTEM,
    /** On the device. */
    TO_DEVICE
}
