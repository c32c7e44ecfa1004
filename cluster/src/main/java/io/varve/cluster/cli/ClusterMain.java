package io.varve.cluster.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.placement.SlotRebalancer;
import io.varve.cluster.protocol.Command.Register;
import io.varve.cluster.protocol.Command.Remove;
import io.varve.cluster.protocol.Command.Replicate;
import io.varve.cluster.protocol.Command.SetWeight;
import io.varve.cluster.protocol.ControllerAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The verb {@code cluster}: operates a cluster through its controllers. Confined to the main thread. */
@Command(name = "cluster", mixinStandardHelpOptions = true, header = "Operates a cluster through its controllers.", synopsisSubcommandLabel = "create|add|remove|rebalance|status|demo", subcommands = {
        ClusterMain.Create.class, ClusterMain.Add.class, ClusterMain.RemoveMember.class,
        ClusterMain.Rebalance.class, ClusterMain.Status.class, DemoMain.class})
public final class ClusterMain implements Callable<Integer> {
    private static final long DEADLINE_MILLIS = 10_000;
    private static final int REGISTRATION_PAUSE_MILLIS = 100;
    private static final int MAX_PORT = 65_535;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    public static void main(String[] arguments) {
        System.exit(execute(CommandLines.standardOutput(), CommandLines.standardError(), arguments));
    }

    /** @return the exit status */
    static int execute(PrintWriter out, PrintWriter err, String... arguments) {
        return CommandLines.execute(new ClusterMain(), List.of(arguments), out, err);
    }

    @Override
    public Integer call() {
        spec.commandLine().getErr().println("varve: cluster: expected create, add, remove, rebalance, status or demo");
        return CommandLines.BAD_SETTING;
    }

    /** What all commands have: the controllers. */
    abstract static class Base implements Callable<Integer> {
        @Option(names = "--controllers", paramLabel = "HOST:PORT,...", required = true, description = "the controllers, or some of them")
        private String controllers = "";
        @Spec
        private CommandSpec spec = CommandSpec.create();

        @Override
        public Integer call() throws IOException, RefusedException {
            try (ControllerClient client = new ControllerClient(ControllerAddress.parseList(controllers),
                    DEADLINE_MILLIS)) {
                run(client);
            }
            return 0;
        }

        abstract void run(ControllerClient client) throws IOException, RefusedException;

        void print(String line) {
            spec.commandLine().getOut().println(line);
        }
    }

    /**
     * Finds the member with an address, or registers a plain one.
     *
     * @param waitSeconds how long to wait for its registration
     */
    private static Member member(ControllerClient client, String address, boolean isPlain, int waitSeconds)
            throws IOException, RefusedException {
        requireAddress(address);
        int colon = address.lastIndexOf(':');
        String port = address.substring(colon + 1);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(waitSeconds);
        while (true) {
            for (Member member : client.view().map().members()) {
                if (member.address().equals(address)) {
                    return member;
                }
            }
            if (isPlain) {
                Member plain = new Member(randomId(), address.substring(0, colon), Integer.parseInt(port), 1, null,
                        Member.Kind.PLAIN);
                client.change(new Register(plain));
                return plain;
            }
            if (System.nanoTime() - end >= 0) {
                throw new IllegalArgumentException("member " + address
                        + " has not registered: start it with cluster-controllers, or give --plain for a plain Redis");
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(REGISTRATION_PAUSE_MILLIS));
        }
    }

    private static void requireAddress(String address) {
        int colon = address.lastIndexOf(':');
        String port = address.substring(colon + 1);
        if (colon < 1 || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) < 1
                || Integer.parseInt(port) > MAX_PORT) {
            throw new IllegalArgumentException("member '" + address + "': expected HOST:PORT");
        }
    }

    private static String randomId() {
        Random random = new SecureRandom();
        StringBuilder id = new StringBuilder();
        for (int i = 0; i < 40; i++) {
            id.append(Character.forDigit(random.nextInt(16), 16));
        }
        return id.toString();
    }

    /** Distributes the slots over members. */
    @Command(name = "create", mixinStandardHelpOptions = true, header = "Gives all slots to members, in proportion to their weights.", description = "Members register themselves when they start; --plain registers plain Redis servers.")
    static final class Create extends Base {
        @Option(names = "--replicas", paramLabel = "N", defaultValue = "0", description = "replicas of each primary: the first addresses become primaries")
        private int replicas;
        @Option(names = "--plain", description = "the members are Redis or Valkey servers, and know no cluster")
        private boolean plain;
        @Option(names = "--wait", paramLabel = "SECONDS", defaultValue = "10", description = "how long to wait for members that start (${DEFAULT-VALUE})")
        private int waitSeconds;
        @Parameters(arity = "1..*", paramLabel = "HOST:PORT", description = "the members")
        private List<String> addresses = new ArrayList<>();

        @Override
        void run(ControllerClient client) throws IOException, RefusedException {
            if (replicas < 0 || addresses.size() % (replicas + 1) != 0) {
                throw new IllegalArgumentException("replicas " + replicas + ": " + addresses.size()
                        + " members are no multiple of " + (replicas + 1));
            }
            if (plain && replicas > 0) {
                throw new IllegalArgumentException("replicas " + replicas
                        + ": expected 0 with --plain: plain members keep their own replicas");
            }
            // Before anything is changed.
            addresses.forEach(ClusterMain::requireAddress);
            addresses.forEach(address -> {
                if (Collections.frequency(addresses, address) > 1) {
                    throw new IllegalArgumentException("member " + address + ": expected each member once");
                }
            });
            SlotMap map = client.view().map();
            if (map.assignedSlots() > 0) {
                throw new IllegalArgumentException("the cluster has " + map.assignedSlots()
                        + " slots with an owner: use cluster add");
            }
            List<Member> members = new ArrayList<>();
            for (String address : addresses) {
                members.add(member(client, address, plain, waitSeconds));
            }
            int count = members.size() / (replicas + 1);
            map = client.view().map();
            new SlotMover(client, this::print).move(map, SlotRebalancer.rebalance(
                    members.subList(0, count).stream().map(Member::id).map(map::member).map(Objects::requireNonNull)
                            .toList(),
                    map));
            // After that: a primary that is late with a heartbeat may be failed over as soon as it has a replica.
            for (int i = count; i < members.size(); i++) {
                client.change(new Replicate(members.get(i).id(), members.get(i % count).id()));
            }
        }
    }

    /** Adds a member. */
    @Command(name = "add", mixinStandardHelpOptions = true, header = "Adds a member, without slots.", description = "A primary receives slots from cluster rebalance.")
    static final class Add extends Base {
        @Option(names = "--replica-of", paramLabel = "HOST:PORT", defaultValue = "", description = "makes it a replica of this primary")
        private String primary = "";
        @Option(names = "--weight", paramLabel = "W", description = "its share of the slots; 1 if not given")
        private @Nullable Double weight;
        @Option(names = "--plain", description = "it is a Redis or Valkey server, and knows no cluster")
        private boolean plain;
        @Option(names = "--wait", paramLabel = "SECONDS", defaultValue = "10", description = "how long to wait for a member that starts (${DEFAULT-VALUE})")
        private int waitSeconds;
        @Parameters(paramLabel = "HOST:PORT", description = "the member")
        private String address = "";

        @Override
        void run(ControllerClient client) throws IOException, RefusedException {
            if (plain && !primary.isEmpty()) {
                throw new IllegalArgumentException("--replica-of " + primary
                        + ": expected none with --plain: plain members keep their own replicas");
            }
            Member added = member(client, address, plain, waitSeconds);
            if (weight != null) {
                client.change(new SetWeight(added.id(), weight));
            }
            if (!primary.isEmpty()) {
                client.change(new Replicate(added.id(), member(client, primary, false, 0).id()));
            }
            print(address + " is member " + added.id());
        }
    }

    /** Removes a member. */
    @Command(name = "remove", mixinStandardHelpOptions = true, header = "Moves the slots of a member to the others, and removes it.", description = "The slots that move are an equal share for each other member, by weight.")
    static final class RemoveMember extends Base {
        @Option(names = "--force", description = "does not move its slots: they have no owner then, and their keys are lost")
        private boolean force;
        @Parameters(paramLabel = "HOST:PORT", description = "the member")
        private String address = "";

        @Override
        void run(ControllerClient client) throws IOException, RefusedException {
            Member removed = member(client, address, false, 0);
            SlotMap map = client.view().map();
            if (!force && !map.slots(removed).isEmpty() && map.replicas(removed).isEmpty()) {
                List<Member> others = primaries(map).stream().filter(other -> !other.equals(removed)).toList();
                if (others.isEmpty()) {
                    throw new IllegalArgumentException("member " + address + " is the only one with slots");
                }
                new SlotMover(client, this::print).move(map, SlotRebalancer.rebalance(others, map));
            }
            client.change(new Remove(removed.id(), force));
            print(address + " is removed");
        }
    }

    private static List<Member> primaries(SlotMap map) {
        return map.members().stream().filter(Member::isPrimary).toList();
    }

    /** Gives each primary its share of the slots. */
    @Command(name = "rebalance", mixinStandardHelpOptions = true, header = "Gives each primary its share of the slots, with the fewest moves.", description = "The members copy the keys while they serve. If this command is interrupted, the migrations go on.")
    static final class Rebalance extends Base {
        @Option(names = "--dry-run", description = "only prints what would move")
        private boolean dryRun;
        @Option(names = "--abort", description = "ends the migrations that are going on: these slots stay where they are")
        private boolean abort;

        @Override
        void run(ControllerClient client) throws IOException, RefusedException {
            SlotMap map = client.view().map();
            SlotMover mover = new SlotMover(client, this::print);
            if (abort) {
                mover.abort(map);
            } else if (dryRun) {
                mover.print(map, SlotRebalancer.rebalance(primaries(map), map));
            } else {
                mover.move(map, SlotRebalancer.rebalance(primaries(map), map));
            }
        }
    }

    /** Prints the cluster. */
    @Command(name = "status", mixinStandardHelpOptions = true, header = "Prints members, slots, leases and the leader.")
    static final class Status extends Base {
        @Override
        void run(ControllerClient client) throws IOException {
            StatusReport.lines(client.view()).forEach(this::print);
        }
    }
}
