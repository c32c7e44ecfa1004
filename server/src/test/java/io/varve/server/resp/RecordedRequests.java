package io.varve.server.resp;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;

import static org.assertj.core.api.Assertions.assertThat;

/** Keeps decoded requests as text. Confined to the test's thread. */
final class RecordedRequests implements RequestSink {
    private final List<List<String>> requests = new ArrayList<>();
    private List<String> current = new ArrayList<>();
    private int announced;

    List<List<String>> requests() {
        return requests;
    }

    @Override
    public void beginRequest(int arguments) {
        assertThat(arguments).isPositive();
        announced = arguments;
        current = new ArrayList<>();
    }

    @Override
    public void argument(long address, int length) {
        current.add(new String(Memory.toArray(address, length), StandardCharsets.ISO_8859_1));
    }

    @Override
    public void runArgument(ValueRun run) {
        argument(run.address(), run.length());
        run.release();
    }

    @Override
    public void endRequest(Shortage shortage) {
        assertThat(current).hasSize(announced);
        if (shortage != Shortage.NONE) {
            current.add("refused: " + shortage);
        }
        requests.add(current);
    }

    @Override
    public void abandonRequest() {
        current = new ArrayList<>();
    }

    @Override
    public boolean isFull() {
        return false;
    }
}
