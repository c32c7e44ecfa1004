package io.varve.server;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** Tests the dependencies between the packages of the server. */
final class ArchitectureTest {
    private static final String ROOT = "io.varve.server";
    private static final String COMMAND = ROOT + ".command";
    /** The families of commands, and which others each may know. */
    private static final Map<String, Set<String>> FAMILIES = Map.ofEntries(Map.entry("acl", Set.of("pubsub")),
            Map.entry("bitmap", Set.of("string")), Map.entry("cluster", Set.of()), Map.entry("connection", Set.of()),
            Map.entry("dump", Set.of("hash", "key", "list", "set", "sortedset")),
            Map.entry("geo", Set.of("sortedset")), Map.entry("hash", Set.of()), Map.entry("hyperloglog", Set.of()),
            Map.entry("introspection", Set.of("hash", "persistence", "set", "sortedset")),
            Map.entry("key", Set.of()), Map.entry("list", Set.of()), Map.entry("persistence", Set.of("dump")),
            Map.entry("pubsub", Set.of()), Map.entry("script", Set.of()), Map.entry("server", Set.of()),
            Map.entry("set", Set.of()), Map.entry("sort", Set.of("hash", "list", "set", "sortedset")),
            Map.entry("sortedset", Set.of("set")), Map.entry("stream", Set.of()),
            Map.entry("stream.group", Set.of("stream")), Map.entry("string", Set.of()),
            Map.entry("transaction", Set.of()),
            Map.entry("varve", Set.of()));
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(ROOT);

    @Test
    void packages_formNoCycle() {
        slices().matching("(io.varve.server..)").should().beFreeOfCycles().check(CLASSES);
    }

    /** A command as data knows neither its handler nor the state of a client. */
    @Test
    void specs_dependOnTextsOnly() {
        noClasses().that().resideInAPackage(COMMAND + ".spec").should().dependOnClassesThat(
                DescribedPredicate.describe("are of another package", used -> used.getPackageName().startsWith(COMMAND)
                        && !used.getPackageName().equals(COMMAND + ".spec")
                        && !used.getPackageName().equals(COMMAND + ".text")))
                .check(CLASSES);
    }

    @Test
    void packages_dependNotOnTheCompositionRoot() {
        noClasses().that().resideInAPackage(ROOT + ".*..").should().dependOnClassesThat().resideInAPackage(ROOT)
                .check(CLASSES);
    }

    @Test
    void protocol_dependsOnNoOtherPackage() {
        for (String other : List.of("command", "admin", "config", "net", "pubsub")) {
            forbid("resp", other);
        }
    }

    @Test
    void settings_dependOnNoOtherPackage() {
        for (String other : List.of("command", "admin", "resp", "net", "pubsub")) {
            forbid("config", other);
        }
    }

    @Test
    void users_dependNeitherOnCommandsNorProtocol() {
        for (String other : List.of("command", "admin", "resp", "net")) {
            forbid("acl", other);
        }
    }

    @Test
    void systemCalls_dependOnNoOtherPackage() {
        for (String other : List.of("admin", "command", "config", "net", "pubsub", "resp")) {
            forbid("system", other);
        }
        noClasses().that().resideInAPackage(ROOT + ".system").should().dependOnClassesThat()
                .resideInAPackage("io.varve.memory..").check(CLASSES);
    }

    @Test
    void geometry_dependsOnNoOtherPackage() {
        for (String other : List.of("admin", "command", "config", "net", "resp", "system")) {
            forbid("geo", other);
        }
    }

    @Test
    void dumpFormat_dependsOnNumbersOnly() {
        for (String other : List.of("acl", "admin", "blocking", "command", "config", "keys", "net", "pubsub",
                "system")) {
            forbid("rdb", other);
        }
    }

    @Test
    void filesOfData_dependOnTheirFormatsOnly() {
        for (String other : List.of("acl", "admin", "blocking", "command", "config", "keys", "net", "pubsub")) {
            forbid("persistence", other);
        }
    }

    @Test
    void replicas_dependNeitherOnCommandsNorChannels() {
        for (String other : List.of("acl", "admin", "blocking", "command", "keys", "net", "pubsub", "resp")) {
            forbid("replication", other);
        }
    }

    @Test
    void membersOfACluster_dependOnSettingsOnly() {
        for (String other : List.of("acl", "admin", "blocking", "command", "net", "persistence", "pubsub", "resp")) {
            forbid("clustering", other);
        }
    }

    @Test
    void checksOfFiles_dependOnTheFormatsOnly() {
        for (String other : List.of("acl", "admin", "blocking", "command", "config", "events", "keys", "net", "pubsub",
                "recovery")) {
            forbid("check", other);
        }
    }

    @Test
    void figures_dependNeitherOnCommandsNorProtocol() {
        for (String other : List.of("command", "resp", "net", "pubsub")) {
            forbid("admin", other);
        }
    }

    @Test
    void messages_dependOnTheProtocolOnly() {
        for (String other : List.of("command", "admin", "config", "net", "system")) {
            forbid("pubsub", other);
        }
        noClasses().that().resideInAPackage(ROOT + ".pubsub").should().dependOnClassesThat()
                .resideInAnyPackage("io.varve.memory", "io.varve.memory.shard..", "io.varve.memory.segment..")
                .check(CLASSES);
    }

    @Test
    void blockedKeys_dependNeitherOnCommandsNorProtocol() {
        for (String other : List.of("admin", "command", "config", "net", "resp")) {
            forbid("blocking", other);
            forbid("keys", other);
        }
    }

    @Test
    void keyEvents_dependNotOnCommands() {
        for (String other : List.of("acl", "admin", "blocking", "command", "net")) {
            forbid("events", other);
            forbid("tracking", other);
        }
    }

    @Test
    void commandFamilies_dependOnDeclaredFamiliesOnly() {
        for (String family : FAMILIES.keySet()) {
            Set<String> strangers = new TreeSet<>(FAMILIES.keySet());
            strangers.remove(family);
            strangers.removeAll(FAMILIES.get(family));
            strangers.add("dispatch");
            strangers.add("registry");
            forbidWithinCommands(family, strangers);
        }
    }

    @Test
    void dispatchAndSpecs_dependNotOnFamilies() {
        Set<String> above = new TreeSet<>(FAMILIES.keySet());
        above.add("registry");
        forbidWithinCommands("dispatch", above);
        above.add("dispatch");
        forbidWithinCommands("value", above);
        above.add("value");
        noClasses().that().resideInAPackage(COMMAND).should().dependOnClassesThat()
                .resideInAnyPackage(packages(above)).check(CLASSES);
    }

    @Test
    void textsOfCommands_dependOnNoOtherPackage() {
        noClasses().that().resideInAPackage(COMMAND + ".text").should().dependOnClassesThat(
                DescribedPredicate.describe("are of another package", used -> used.getPackageName().startsWith(COMMAND)
                        && !used.getPackageName().equals(COMMAND + ".text")))
                .check(CLASSES);
    }

    @Test
    void commands_dependNotOnChannels() {
        forbid("command", "net");
        forbid("recovery", "net");
        forbid("command", "recovery");
    }

    /** Those of clients, and those of the HTTP endpoint for operators. */
    @Test
    void netty_isUsedByNetworkPackagesOnly() {
        noClasses().that().resideOutsideOfPackages(ROOT + ".net..", ROOT + ".admin.http..").should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty.channel..", "io.netty.bootstrap..", "io.netty.util..").check(CLASSES);
        noClasses().that().resideOutsideOfPackages(ROOT + ".net..", ROOT + ".resp..", ROOT + ".admin.http..").should()
                .dependOnClassesThat()
                .resideInAPackage("io.netty..").check(CLASSES);
    }

    @Test
    void metricsLibrary_isUsedByMetricsOnly() {
        noClasses().that().resideOutsideOfPackages(ROOT + ".admin", ROOT + ".admin.metrics").should()
                .dependOnClassesThat().resideInAnyPackage("io.micrometer..", "io.prometheus..").check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".admin").should().dependOnClassesThat()
                .resideInAPackage(ROOT + ".admin.http..").check(CLASSES);
    }

    @Test
    void cacheAndNetwork_areOpenedByTheRootOnly() {
        // Items of the flash tier are read in a small cache of their own.
        noClasses().that().resideInAPackage(ROOT + ".*..").and().doNotHaveSimpleName("StoredItemReader").should()
                .callMethodWhere(named("io.varve.memory.Cache", "open")).orShould()
                .callMethodWhere(named(ROOT + ".net.NetworkServer", "start")).check(CLASSES);
    }

    @Test
    void time_isInjected() {
        noClasses().should().callMethod(System.class, "currentTimeMillis").check(CLASSES);
        // The threads of maintenance and of hiccups pace themselves, and DEBUG SLEEP sleeps: none reports the time. A
        // lease ends by the clock of the session with the controllers, which is this one.
        noClasses().that().doNotHaveSimpleName("ClusterState").and().doNotHaveSimpleName("ControllerLink").and()
                .doNotHaveSimpleName("Maintenance").and().doNotHaveSimpleName("HiccupMeter").and()
                .doNotHaveSimpleName("DebugCommands").should().callMethod(System.class, "nanoTime").check(CLASSES);
    }

    @Test
    void rawMemory_isUsedBySystemCallsOnly() {
        noClasses().that().resideOutsideOfPackage(ROOT + ".system").should().dependOnClassesThat()
                .haveNameMatching("java\\.lang\\.foreign\\.(Arena|Linker|SymbolLookup)")
                .check(CLASSES);
        noClasses().should().dependOnClassesThat(new DescribedPredicate<JavaClass>("sun.misc.Unsafe") {
            @Override
            public boolean test(JavaClass used) {
                return used.getName().equals("sun.misc.Unsafe");
            }
        }).check(CLASSES);
    }

    @Test
    void packages_areListed() {
        Set<String> packages = new TreeSet<>(List.of(ROOT));
        for (String name : List.of("admin", "admin.http", "admin.latency", "admin.metrics", "acl", "blocking",
                "check", "clustering", "command", "config", "events", "following", "geo",
                "keys", "log", "membership", "migration", "net", "net.busy", "persistence", "pubsub", "rdb", "recovery",
                "replication", "resp", "script",
                "system",
                "tls",
                "tracking", "training")) {
            packages.add(ROOT + "." + name);
        }
        packages.addAll(List.of(packages(FAMILIES.keySet())));
        packages.addAll(List.of(packages(
                Set.of("access", "batch", "blocking", "dispatch", "flash", "redirect", "registry", "script.run",
                        "session", "spec",
                        "text",
                        "value"))));
        classes().that().resideInAPackage(ROOT + "..").should().resideInAnyPackage(packages.toArray(String[]::new))
                .check(CLASSES);
    }

    private static String[] packages(Set<String> packages) {
        return packages.stream().map(name -> COMMAND + "." + name).toArray(String[]::new);
    }

    private static void forbidWithinCommands(String name, Set<String> others) {
        noClasses().that().resideInAPackage(COMMAND + "." + name).should().dependOnClassesThat()
                .resideInAnyPackage(packages(others)).check(CLASSES);
    }

    private static DescribedPredicate<com.tngtech.archunit.core.domain.JavaMethodCall> named(String owner,
            String method) {
        return DescribedPredicate.describe(owner + "." + method, call -> call.getTargetOwner().getName().equals(owner)
                && call.getName().equals(method));
    }

    private static void forbid(String name, String other) {
        noClasses().that().resideInAPackage(ROOT + "." + name + "..").should().dependOnClassesThat()
                .resideInAPackage(ROOT + "." + other + "..").check(CLASSES);
    }
}
