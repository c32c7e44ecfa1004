package io.varve.server.persistence;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.RequestSink;
import io.varve.server.resp.Shortage;

/** Collects requests, each char a byte. Confined to the test's thread. */
final class RecordedRequests implements RequestSink {
    private final List<List<String>> all = new ArrayList<>();

    List<List<String>> all() {
        return all;
    }

    @Override
    public void beginRequest(int arguments) {
        all.add(new ArrayList<>(arguments));
    }

    @Override
    public void argument(long address, int length) {
        all.getLast().add(new String(Memory.toArray(address, length), StandardCharsets.ISO_8859_1));
    }

    @Override
    public void runArgument(ValueRun run) {
        throw new UnsupportedOperationException("files have no runs");
    }

    @Override
    public void endRequest(Shortage shortage) {
        // It is complete.
    }

    @Override
    public void abandonRequest() {
        all.removeLast();
    }

    @Override
    public boolean isFull() {
        return false;
    }
}
