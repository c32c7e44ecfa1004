package io.varve.cluster.controller;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.varve.cluster.protocol.ControllerAddress;
import io.varve.cluster.testing.FreePorts;

/** Controllers of a test in this process. Confined to the test's thread. */
final class TestControllers implements AutoCloseable {
    /** Few, so that a test sees snapshots. */
    static final int ENTRIES_PER_SNAPSHOT = 50;

    private final Path directory;
    private final List<ControllerAddress> addresses;
    private final Map<Integer, Controller> running = new TreeMap<>();

    TestControllers(Path directory, int count) throws IOException {
        this.directory = directory;
        addresses = FreePorts.controllers(count);
    }

    List<ControllerAddress> addresses() {
        return addresses;
    }

    ControllerConfig config(int number, Path dir) {
        return new ControllerConfig("c" + number, dir, addresses);
    }

    /** @param number from 1 */
    Controller start(int number) {
        try {
            Controller controller = Controller.start(config(number, directory.resolve("c" + number)),
                    ENTRIES_PER_SNAPSHOT);
            running.put(number, controller);
            return controller;
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Starts those that do not run. */
    void startAll() {
        for (int number = 1; number <= addresses.size(); number++) {
            if (!running.containsKey(number)) {
                start(number);
            }
        }
    }

    void stop(int number) throws IOException {
        Objects.requireNonNull(running.remove(number)).close();
    }

    Controller get(int number) {
        return Objects.requireNonNull(running.get(number));
    }

    Map<Integer, Controller> running() {
        return running;
    }

    @Override
    public void close() throws IOException {
        for (Controller controller : running.values()) {
            controller.close();
        }
        running.clear();
    }
}
