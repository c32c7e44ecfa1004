package io.varve.server.resp;

import io.varve.memory.item.ValueRun;

/** Takes decoded requests, argument by argument. Confined to an event loop. */
public interface RequestSink {
    /** @param arguments how many follow */
    void beginRequest(int arguments);

    void argument(long address, int length);

    /** A large argument in a run of its own, which the sink takes over. */
    void runArgument(ValueRun run);

    /**
     * @param shortage the limit because of which arguments were dropped
     */
    void endRequest(Shortage shortage);

    /** Forgets the request that was begun, and its arguments, none of which was a run. */
    void abandonRequest();

    /** Whether it takes no more requests. */
    boolean isFull();
}
