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
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** The walls between the rooms of the server. */
final class ArchitectureTest {
    private static final String ROOT = "io.varve.server";
    private static final String COMMAND = ROOT + ".command";
    /** The families of commands, and which others each may know. */
    private static final Map<String, Set<String>> FAMILIES = Map.ofEntries(Map.entry("acl", Set.of("pubsub")),
            Map.entry("bitmap", Set.of("string")), Map.entry("connection", Set.of()),
            Map.entry("dump", Set.of("hash", "key", "list", "set", "sortedset")),
            Map.entry("geo", Set.of("sortedset")), Map.entry("hash", Set.of()), Map.entry("hyperloglog", Set.of()),
            Map.entry("introspection", Set.of("hash", "set", "sortedset")), Map.entry("key", Set.of()),
            Map.entry("list", Set.of()), Map.entry("pubsub", Set.of()), Map.entry("server", Set.of()),
            Map.entry("set", Set.of()), Map.entry("sort", Set.of("hash", "list", "set", "sortedset")),
            Map.entry("sortedset", Set.of("set")), Map.entry("string", Set.of()), Map.entry("transaction", Set.of()),
            Map.entry("varve", Set.of()));
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(ROOT);

    @Test
    void roomsFormNoCycle() {
        slices().matching(ROOT + ".(*)..").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void noRoomKnowsTheCompositionRoot() {
        noClasses().that().resideInAPackage(ROOT + ".*..").should().dependOnClassesThat().resideInAPackage(ROOT)
                .check(CLASSES);
    }

    @Test
    void theProtocolKnowsNoOtherRoom() {
        for (String other : List.of("command", "admin", "config", "net", "pubsub")) {
            forbid("resp", other);
        }
    }

    @Test
    void settingsKnowNoOtherRoom() {
        for (String other : List.of("command", "admin", "resp", "net", "pubsub")) {
            forbid("config", other);
        }
    }

    @Test
    void usersKnowNeitherCommandsNorProtocol() {
        for (String other : List.of("command", "admin", "resp", "net")) {
            forbid("acl", other);
        }
    }

    @Test
    void whatIsAskedOfTheSystemKnowsNoOtherRoom() {
        for (String other : List.of("admin", "command", "config", "net", "pubsub", "resp")) {
            forbid("system", other);
        }
        noClasses().that().resideInAPackage(ROOT + ".system").should().dependOnClassesThat()
                .resideInAPackage("io.varve.memory..").check(CLASSES);
    }

    @Test
    void geometryKnowsNoOtherRoom() {
        for (String other : List.of("admin", "command", "config", "net", "resp", "system")) {
            forbid("geo", other);
        }
    }

    @Test
    void payloadsKnowNumbersAndNothingElse() {
        for (String other : List.of("acl", "admin", "blocking", "command", "config", "keys", "net", "pubsub",
                "system")) {
            forbid("rdb", other);
        }
    }

    @Test
    void whatIsMeasuredKnowsNeitherCommandsNorProtocol() {
        for (String other : List.of("command", "resp", "net", "pubsub")) {
            forbid("admin", other);
        }
    }

    @Test
    void messagesKnowHowTheyAreWrittenAndNothingElse() {
        for (String other : List.of("command", "admin", "config", "net", "system")) {
            forbid("pubsub", other);
        }
        noClasses().that().resideInAPackage(ROOT + ".pubsub").should().dependOnClassesThat()
                .resideInAnyPackage("io.varve.memory", "io.varve.memory.shard..", "io.varve.memory.segment..")
                .check(CLASSES);
    }

    @Test
    void whoWaitsForKeysKnowsNeitherCommandsNorProtocol() {
        for (String other : List.of("admin", "command", "config", "net", "resp")) {
            forbid("blocking", other);
            forbid("keys", other);
        }
    }

    @Test
    void whatHappensToKeysKnowsNoCommands() {
        for (String other : List.of("acl", "admin", "blocking", "command", "net")) {
            forbid("events", other);
            forbid("tracking", other);
        }
    }

    @Test
    void familiesOfCommandsKnowNoOtherButThoseThatAreNamed() {
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
    void whatACommandIsAndWhatRunsItKnowNoFamily() {
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
    void textsOfCommandsKnowNoOtherRoom() {
        noClasses().that().resideInAPackage(COMMAND + ".text").should().dependOnClassesThat(
                DescribedPredicate.describe("are of another room", used -> used.getPackageName().startsWith(COMMAND)
                        && !used.getPackageName().equals(COMMAND + ".text")))
                .check(CLASSES);
    }

    @Test
    void roomsOfCommandsFormNoCycle() {
        slices().assignedFrom(new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass any) {
                return any.getPackageName().startsWith(COMMAND)
                        ? SliceIdentifier.of(any.getPackageName())
                        : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "rooms of commands";
            }
        }).should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void commandsKnowNoChannels() {
        forbid("command", "net");
    }

    /** Those of clients, and those of the HTTP endpoint for operators. */
    @Test
    void channelsStayInTheirRoom() {
        noClasses().that().resideOutsideOfPackages(ROOT + ".net..", ROOT + ".admin.http..").should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty.channel..", "io.netty.bootstrap..", "io.netty.util..").check(CLASSES);
        noClasses().that().resideOutsideOfPackages(ROOT + ".net..", ROOT + ".resp..", ROOT + ".admin.http..").should()
                .dependOnClassesThat()
                .resideInAPackage("io.netty..").check(CLASSES);
    }

    @Test
    void onlyWhatIsMeasuredKnowsTheMetricsLibrary() {
        noClasses().that().resideOutsideOfPackage(ROOT + ".admin").should().dependOnClassesThat()
                .resideInAnyPackage("io.micrometer..", "io.prometheus..").check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".admin").should().dependOnClassesThat()
                .resideInAPackage(ROOT + ".admin.http..").check(CLASSES);
    }

    @Test
    void onlyTheRootOpensTheCacheAndTheNetwork() {
        noClasses().that().resideInAPackage(ROOT + ".*..").should().callMethodWhere(named("io.varve.memory.Cache",
                "open")).orShould().callMethodWhere(named(ROOT + ".net.NetworkServer", "start")).check(CLASSES);
    }

    @Test
    void timeIsInjected() {
        noClasses().should().callMethod(System.class, "currentTimeMillis").check(CLASSES);
        // The threads of maintenance and of hiccups pace themselves, and DEBUG SLEEP sleeps: none tells anyone the time.
        noClasses().that().doNotHaveSimpleName("Maintenance").and().doNotHaveSimpleName("HiccupMeter").and()
                .doNotHaveSimpleName("ObjectCommands").should().callMethod(System.class, "nanoTime").check(CLASSES);
    }

    @Test
    void theWireIsNoDoorToRawMemory() {
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
    void everyRoomSaysWhatLivesInIt() {
        Set<String> rooms = new TreeSet<>(List.of(ROOT));
        for (String room : List.of("admin", "admin.http", "acl", "blocking", "command", "config", "events", "geo",
                "keys", "net", "pubsub", "rdb", "resp", "system", "tls", "tracking")) {
            rooms.add(ROOT + "." + room);
        }
        rooms.addAll(List.of(packages(FAMILIES.keySet())));
        rooms.addAll(List.of(packages(Set.of("dispatch", "registry", "text", "value"))));
        classes().that().resideInAPackage(ROOT + "..").should().resideInAnyPackage(rooms.toArray(String[]::new))
                .check(CLASSES);
    }

    private static String[] packages(Set<String> rooms) {
        return rooms.stream().map(room -> COMMAND + "." + room).toArray(String[]::new);
    }

    private static void forbidWithinCommands(String room, Set<String> others) {
        noClasses().that().resideInAPackage(COMMAND + "." + room).should().dependOnClassesThat()
                .resideInAnyPackage(packages(others)).check(CLASSES);
    }

    private static DescribedPredicate<com.tngtech.archunit.core.domain.JavaMethodCall> named(String owner,
            String method) {
        return DescribedPredicate.describe(owner + "." + method, call -> call.getTargetOwner().getName().equals(owner)
                && call.getName().equals(method));
    }

    private static void forbid(String room, String other) {
        noClasses().that().resideInAPackage(ROOT + "." + room + "..").should().dependOnClassesThat()
                .resideInAPackage(ROOT + "." + other + "..").check(CLASSES);
    }
}
