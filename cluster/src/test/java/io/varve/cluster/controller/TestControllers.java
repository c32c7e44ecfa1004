package io.varve.cluster.controller;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.varve.cluster.protocol.ControllerAddress;

/** Controllers of a test in this process. Confined to the test's thread. */
final class TestControllers implements AutoCloseable {
    /** Few, so that a test sees snapshots. */
    static final int ENTRIES_PER_SNAPSHOT = 50;

    private final Path directory;
    private final List<ControllerAddress> addresses;
    private final Map<Integer, Controller> running = new TreeMap<>();

    TestControllers(Path directory, int count) throws IOException {
        this.directory = directory;
        addresses = freeAddresses(count);
    }

    /** Addresses with ports that were free just now. */
    static List<ControllerAddress> freeAddresses(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        List<ControllerAddress> addresses = new ArrayList<>();
        try {
            for (int i = 1; i <= count; i++) {
                ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                sockets.add(socket);
                addresses.add(new ControllerAddress("c" + i, "127.0.0.1", socket.getLocalPort()));
            }
        } finally {
            for (ServerSocket socket : sockets) {
                socket.close();
            }
        }
        return addresses;
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

    void startAll() {
        for (int number = 1; number <= addresses.size(); number++) {
            start(number);
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
