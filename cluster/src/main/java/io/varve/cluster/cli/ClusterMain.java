package io.varve.cluster.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;

import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.Command.AssignSlots;
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
@Command(name = "cluster", mixinStandardHelpOptions = true, header = "Operates a cluster through its controllers.", synopsisSubcommandLabel = "create|add|remove|status", subcommands = {
        ClusterMain.Create.class, ClusterMain.Add.class, ClusterMain.RemoveMember.class,
        ClusterMain.Status.class})
public final class ClusterMain implements Callable<Integer> {
    private static final long DEADLINE_MILLIS = 10_000;
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
        spec.commandLine().getErr().println("varve: cluster: expected create, add, remove or status");
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

    /** Finds the member with an address, or registers a plain one. */
    private static Member member(ControllerClient client, String address, boolean isPlain)
            throws IOException, RefusedException {
        int colon = address.lastIndexOf(':');
        String port = address.substring(colon + 1);
        if (colon < 1 || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) < 1
                || Integer.parseInt(port) > MAX_PORT) {
            throw new IllegalArgumentException("member '" + address + "': expected HOST:PORT");
        }
        SlotMap map = client.view().map();
        for (Member member : map.members()) {
            if (member.address().equals(address)) {
                return member;
            }
        }
        if (!isPlain) {
            throw new IllegalArgumentException("member " + address
                    + " has not registered: start it with cluster-controllers, or give --plain for a plain Redis");
        }
        Member plain = new Member(randomId(), address.substring(0, colon), Integer.parseInt(port), 1, null,
                Member.Kind.PLAIN);
        client.change(new Register(plain));
        return plain;
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
            SlotMap map = client.view().map();
            if (map.assignedSlots() > 0) {
                throw new IllegalArgumentException("the cluster has " + map.assignedSlots()
                        + " slots with an owner: use cluster add");
            }
            List<Member> members = new ArrayList<>();
            for (String address : addresses) {
                members.add(member(client, address, plain));
            }
            int count = members.size() / (replicas + 1);
            for (int i = count; i < members.size(); i++) {
                client.change(new Replicate(members.get(i).id(), members.get(i % count).id()));
            }
            Map<Member, List<SlotRange>> placed = InitialSlots.of(members.subList(0, count));
            for (Map.Entry<Member, List<SlotRange>> one : placed.entrySet()) {
                client.change(new AssignSlots(one.getValue(), one.getKey().id()));
                print(one.getKey().address() + " has the slots " + text(one.getValue()));
            }
        }
    }

    static String text(List<SlotRange> ranges) {
        return String.join(", ", ranges.stream()
                .map(range -> range.size() == 1 ? "" + range.first() : range.first() + "-" + range.last()).toList());
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
        @Parameters(paramLabel = "HOST:PORT", description = "the member")
        private String address = "";

        @Override
        void run(ControllerClient client) throws IOException, RefusedException {
            Member added = member(client, address, plain);
            if (weight != null) {
                client.change(new SetWeight(added.id(), weight));
            }
            if (!primary.isEmpty()) {
                client.change(new Replicate(added.id(), member(client, primary, false).id()));
            }
            print(address + " is member " + added.id());
        }
    }

    /** Removes a member. */
    @Command(name = "remove", mixinStandardHelpOptions = true, header = "Removes a member that has no slots.")
    static final class RemoveMember extends Base {
        @Option(names = "--force", description = "also if it has slots: they have no owner then, and their keys are lost")
        private boolean force;
        @Parameters(paramLabel = "HOST:PORT", description = "the member")
        private String address = "";

        @Override
        void run(ControllerClient client) throws IOException, RefusedException {
            Member removed = member(client, address, false);
            client.change(new Remove(removed.id(), force));
            print(address + " is removed");
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
