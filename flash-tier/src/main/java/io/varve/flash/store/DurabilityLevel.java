package io.varve.flash.store;

/** How durable a change is when its call returns. Immutable. All earlier changes are at least as durable. */
public enum DurabilityLevel {
    /** In the process's own buffers: lost if the process is killed. */
    BUFFERED,
    /** With the operating system: lost at a power cut. */
    TO_SYSTEM,
    /** On the device. */
    TO_DEVICE
}
