package io.varve.proxy.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.controller.Controller;
import io.varve.cluster.controller.ControllerConfig;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.ControllerAddress;
import org.jspecify.annotations.Nullable;

/** A controller in the test's process, whose members are plain servers. Confined to the test's thread. */
public final class TestController implements AutoCloseable {
    private static final long DEADLINE_MILLIS = 20_000;

    private final ControllerConfig config;
    private final ControllerClient client;
    private @Nullable Controller running;

    /** It does not run yet. */
    public TestController(Path directory) throws IOException {
        ControllerAddress address = new ControllerAddress("c1", "127.0.0.1", RedisMember.freePort());
        config = new ControllerConfig("c1", directory, List.of(address));
        client = new ControllerClient(List.of(address), DEADLINE_MILLIS);
    }

    /** Starts it; after {@link #stop} it continues with its data. */
    public void start() throws IOException {
        running = Controller.start(config);
    }

    public void stop() throws IOException {
        Controller stopped = running;
        running = null;
        if (stopped != null) {
            stopped.close();
        }
    }

    /** HOST:PORT. */
    public String address() {
        return config.own().address();
    }

    private static String id(RedisMember member) {
        return String.format(java.util.Locale.ROOT, "%040x", member.port());
    }

    /** Makes a server a member without slots. */
    public void register(RedisMember member) throws IOException, RefusedException {
        client.change(new Command.Register(
                new Member(id(member), "127.0.0.1", member.port(), 1, null, Member.Kind.PLAIN)));
    }

    /** Gives slots without an owner to a member. */
    public void assign(RedisMember member, int first, int last) throws IOException, RefusedException {
        client.change(new Command.AssignSlots(List.of(new SlotRange(first, last)), id(member)));
    }

    /** Removes a member; its slots have no owner then. */
    public void remove(RedisMember member) throws IOException, RefusedException {
        client.change(new Command.Remove(id(member), true));
    }

    @Override
    public void close() throws IOException {
        client.close();
        stop();
    }
}
