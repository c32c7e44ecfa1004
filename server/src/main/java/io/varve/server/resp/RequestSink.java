package io.varve.server.resp;

import io.varve.memory.item.ValueRun;

/** Receives decoded requests, argument by argument. Confined to an event loop. */
public interface RequestSink {
    /** @param arguments number of arguments that follow */
    void beginRequest(int arguments);

    void argument(long address, int length);

    /** A large argument in its own run, which the sink takes over. */
    void runArgument(ValueRun run);

    /** @param shortage the limit that caused arguments to be dropped */
    void endRequest(Shortage shortage);

    /** Drops the current request and its arguments, none of which was a run. */
    void abandonRequest();

    /** Whether it accepts no more requests. */
    boolean isFull();
}
