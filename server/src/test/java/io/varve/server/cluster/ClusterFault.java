package io.varve.server.cluster;

import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.varve.server.cluster.machine.TestClock;
import io.varve.server.cluster.machine.TestNetwork;
import io.varve.server.testing.RawClient;

/** A fault that a test causes in a cluster, and ends. Stateless. */
enum ClusterFault {
    KILL_PRIMARY {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            cluster.member(primary).kill();
            pause(random, 2_000);
            cluster.member(primary).restart();
        }
    },
    RESTART_PRIMARY_AT_ONCE {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            cluster.member(primary).kill();
            cluster.member(primary).restart();
        }
    },
    KILL_REPLICA {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int replica = cluster.replicaOf(primary);
            cluster.member(replica).kill();
            pause(random, 1_000);
            cluster.member(replica).restart();
        }
    },
    STOP_PRIMARY {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            cluster.member(primary).signal("STOP");
            pause(random, 3_000);
            cluster.member(primary).signal("CONT");
        }
    },
    STOP_REPLICA {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int replica = cluster.replicaOf(primary);
            cluster.member(replica).signal("STOP");
            pause(random, 2_000);
            cluster.member(replica).signal("CONT");
        }
    },
    KILL_LEADING_CONTROLLER {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int leader = cluster.leader();
            cluster.controller(leader).kill();
            pause(random, 2_000);
            cluster.controller(leader).restart();
        }
    },
    STOP_LEADING_CONTROLLER {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int leader = cluster.leader();
            cluster.controller(leader).signal("STOP");
            pause(random, 3_000);
            cluster.controller(leader).signal("CONT");
        }
    },
    KILL_ALL_CONTROLLERS {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            for (int i = 0; i < cluster.controllerCount(); i++) {
                cluster.controller(i).kill();
            }
            pause(random, 1_500);
            for (int i = 0; i < cluster.controllerCount(); i++) {
                cluster.controller(i).restart();
            }
        }
    },
    HAND_OVER {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            ask(cluster.member(cluster.replicaOf(primary)));
        }
    },
    HAND_OVER_AND_KILL_PRIMARY {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            ClusterProcess replica = cluster.member(cluster.replicaOf(primary));
            Thread request = Thread.ofPlatform().start(() -> ask(replica));
            pause(random, 20);
            cluster.member(primary).kill();
            request.join();
            cluster.member(primary).restart();
        }
    },
    HAND_OVER_AND_STOP_LEADING_CONTROLLER {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            ClusterProcess replica = cluster.member(cluster.replicaOf(primary));
            int leader = cluster.leader();
            Thread request = Thread.ofPlatform().start(() -> ask(replica));
            pause(random, 20);
            cluster.controller(leader).signal("STOP");
            pause(random, 3_000);
            cluster.controller(leader).signal("CONT");
            request.join();
        }
    },
    TERMINATE_PRIMARY {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            cluster.member(primary).terminate();
            cluster.member(primary).restart();
        }
    },
    CUT_PRIMARY_OFF {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            network.cutOff(cluster.hostOfMember(primary));
            pause(random, 3_000);
            network.reconnect(cluster.hostOfMember(primary));
        }
    },
    CUT_REPLICA_OFF {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int host = cluster.hostOfMember(cluster.replicaOf(primary));
            network.cutOff(host);
            pause(random, 3_000);
            network.reconnect(host);
        }
    },
    /** Clients still reach the primary. */
    SEPARATE_PRIMARY_FROM_CONTROLLERS {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            for (int i = 0; i < cluster.controllerCount(); i++) {
                network.separate(cluster.hostOfMember(primary), i);
            }
            // Long enough for a fail-over, mostly.
            pause(random, 2_000);
            pause(random, 2_000);
            pause(random, 2_000);
            for (int i = 0; i < cluster.controllerCount(); i++) {
                network.join(cluster.hostOfMember(primary), i);
            }
        }
    },
    SEPARATE_PRIMARY_FROM_REPLICA {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int replica = cluster.replicaOf(primary);
            network.separate(cluster.hostOfMember(primary), cluster.hostOfMember(replica));
            pause(random, 2_000);
            network.join(cluster.hostOfMember(primary), cluster.hostOfMember(replica));
        }
    },
    CUT_LEADING_CONTROLLER_OFF {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int leader = cluster.leader();
            network.cutOff(leader);
            pause(random, 3_000);
            network.reconnect(leader);
        }
    },
    /** The replica has all that was confirmed, and lacks other writes. */
    KILL_PRIMARY_BEHIND_A_SLOW_LINK {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int host = cluster.hostOfMember(cluster.replicaOf(primary));
            network.slowDown(host, 16);
            pause(random, 1_000);
            cluster.member(primary).kill();
            network.speedUp(host);
            pause(random, 2_000);
            cluster.member(primary).restart();
        }
    },
    KILL_PRIMARY_WITHOUT_ITS_REPLICA {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int host = cluster.hostOfMember(cluster.replicaOf(primary));
            network.separate(cluster.hostOfMember(primary), host);
            pause(random, 500);
            cluster.member(primary).kill();
            network.join(cluster.hostOfMember(primary), host);
            pause(random, 2_000);
            cluster.member(primary).restart();
        }
    },
    FILL_DISK_OF_PRIMARY {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            cluster.diskOfMember(primary).fill();
            pause(random, 2_000);
            cluster.diskOfMember(primary).free();
        }
    },
    KILL_PRIMARY_WHILE_THE_DISK_OF_ITS_REPLICA_IS_FULL {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int replica = cluster.replicaOf(primary);
            cluster.diskOfMember(replica).fill();
            cluster.member(primary).kill();
            pause(random, 3_000);
            cluster.diskOfMember(replica).free();
            cluster.member(primary).restart();
        }
    },
    SLOW_LINK_TO_REPLICA {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            int host = cluster.hostOfMember(cluster.replicaOf(primary));
            network.slowDown(host, 200);
            pause(random, 2_000);
            network.speedUp(host);
        }
    },
    TURN_CLOCKS_OF_PRIMARY_AND_CONTROLLER {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            TestClock controller = cluster.controller(cluster.leader()).clock();
            TestClock member = cluster.member(primary).clock();
            controller.jump(random.nextLong(-MAX_TURN_SECONDS, MAX_TURN_SECONDS));
            member.jump(random.nextLong(-MAX_TURN_SECONDS, MAX_TURN_SECONDS));
            pause(random, 2_000);
            controller.jump(0);
            pause(random, 1_000);
            member.jump(0);
        }
    },
    KILL_PRIMARY_WHILE_CLOCKS_DIFFER {
        @Override
        void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception {
            TestClock replica = cluster.member(cluster.replicaOf(primary)).clock();
            replica.jump(random.nextLong(-MAX_TURN_SECONDS, MAX_TURN_SECONDS));
            cluster.member(primary).kill();
            pause(random, 2_000);
            cluster.member(primary).restart();
            replica.jump(0);
        }
    };

    private static final long MAX_TURN_SECONDS = 7_200;

    /** The faults that are possible on a network, and with the clocks, or the one that the caller wants. */
    static List<ClusterFault> on(TestNetwork network) {
        String only = System.getProperty("varve.cluster.fault");
        if (only != null) {
            return List.of(valueOf(only));
        }
        boolean hasNamespaces = network.hasNamespaces();
        return Stream.of(values()).filter(fault -> fault.compareTo(CUT_PRIMARY_OFF) < 0
                || (fault.compareTo(TURN_CLOCKS_OF_PRIMARY_AND_CONTROLLER) < 0
                        ? hasNamespaces
                        : TestClock.isPossible()))
                .toList();
    }

    /**
     * Begins the fault, and ends it after a random time.
     *
     * @param primary the number of a primary that has a replica
     */
    abstract void happen(ProcessCluster cluster, TestNetwork network, int primary, Random random) throws Exception;

    /** Asks for a planned fail-over. It may be refused, such as while slots migrate. */
    private static void ask(ClusterProcess replica) {
        try (RawClient client = new RawClient(replica.host(), replica.port())) {
            System.out.println("CLUSTER FAILOVER: " + client.command("CLUSTER", "FAILOVER").strip());
        } catch (IOException failed) {
            System.out.println("CLUSTER FAILOVER: " + failed);
        }
    }

    /** A part of the schedule of faults: nothing waits for anything. */
    private static void pause(Random random, int maxMillis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(maxMillis)));
    }
}
