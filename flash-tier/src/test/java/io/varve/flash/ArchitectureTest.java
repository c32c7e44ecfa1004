package io.varve.flash;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** Tests the dependencies between the packages of this module. */
final class ArchitectureTest {
    private static final String ROOT = "io.varve.flash";
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS).importPackages(ROOT);

    @Test
    void packages_formNoCycle() {
        slices().matching("(io.varve.flash..)").should().beFreeOfCycles().check(CLASSES);
    }

    /** Policies and their simulation are pure: no files, no clocks, no threads of their own. */
    @Test
    void policiesAndSimulationArePure() {
        noClasses().that()
                .resideInAnyPackage(ROOT + ".bloom", ROOT + ".membership", ROOT + ".policy", ROOT + ".simulation")
                .should()
                .dependOnClassesThat().resideInAnyPackage("java.io..", "java.nio..", "java.time..", "java.net..")
                .orShould()
                .dependOnClassesThat().haveFullyQualifiedName("java.lang.Thread").orShould()
                .callMethod(System.class, "nanoTime").orShould().callMethod(System.class, "currentTimeMillis")
                .check(CLASSES);
    }

    @Test
    void filtersKnowNoPolicyAndPoliciesKnowNoStore() {
        noClasses().that().resideInAPackage(ROOT + ".bloom").should().dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".policy", ROOT + ".simulation").check(CLASSES);
        noClasses().that().resideInAPackage(ROOT + ".policy").should().dependOnClassesThat()
                .resideInAPackage(ROOT + ".simulation").check(CLASSES);
    }

    @Test
    void librariesStayInTheirPackages() {
        noClasses().that().resideOutsideOfPackage(ROOT + ".je").should().dependOnClassesThat()
                .resideInAPackage("com.sleepycat..").check(CLASSES);
        noClasses().that().resideOutsideOfPackage(ROOT + ".mvstore").should().dependOnClassesThat()
                .resideInAPackage("org.h2..").check(CLASSES);
        noClasses().that().resideInAnyPackage(ROOT + ".je", ROOT + ".mvstore", ROOT + ".store").should()
                .dependOnClassesThat().resideInAnyPackage(ROOT + ".policy", ROOT + ".record", ROOT + ".bloom")
                .check(CLASSES);
    }

    @Test
    void noPackageDependsOnItsEntryPoint() {
        noClasses().that().resideInAPackage(ROOT + ".*..").should().dependOnClassesThat().resideInAPackage(ROOT)
                .check(CLASSES);
    }

    @Test
    void everyPackageStatesItsContents() {
        classes().should()
                .resideInAnyPackage(ROOT, ROOT + ".bloom", ROOT + ".membership", ROOT + ".policy", ROOT + ".simulation",
                        ROOT + ".store", ROOT + ".record", ROOT + ".je", ROOT + ".mvstore", ROOT + ".tier",
                        ROOT + ".wait")
                .check(CLASSES);
    }
}
