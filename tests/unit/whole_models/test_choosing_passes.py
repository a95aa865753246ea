"""Which passes a model gets: of the gallery where nothing is torn apart, else those written for it."""

from passnet_core.records import Bundle, PassFile
from passnet_core.whole_models.choosing import RULES, MatchingPass, candidates, chosen, together
from passnet_core.whole_models.survey import FoundBundle, FoundPass


def matching(name: str, *matches: str, origin: str = RULES, author: str = "reference") -> MatchingPass:
    """A pass with these matches in the first graph: of each, one letter per node."""
    bundle = Bundle((PassFile(f"{name}.py", f"# {origin}\n"),), author=author if origin != RULES else RULES)
    return MatchingPass(name, origin, bundle, tuple((0, frozenset(each)) for each in matches))


def names(gallery: list[MatchingPass], rules: list[MatchingPass]) -> list[str]:
    return [f"{each.origin}/{each.name}" for each in chosen(gallery, rules)]


def test_a_pass_of_the_gallery_stands_for_what_the_rules_would_write() -> None:
    rules = [matching("norm", "abc", "fgh"), matching("gelu", "d")]
    assert names([matching("norm", "abc", "fgh", origin="g")], rules) == ["g/norm", "rules/gelu"]
    # it holds both regions
    assert names([matching("all", "abcd", origin="g")], rules) == ["g/all", "rules/norm"]


def test_a_pass_that_would_tear_a_region_apart_is_not_taken() -> None:
    rules = [matching("norm", "abc", "fgh")]
    assert names([matching("add", "a", "f", origin="g")], rules) == ["rules/norm"]
    # one of its matches would
    assert names([matching("some", "abc", "g", origin="g")], rules) == ["rules/norm"]
    # what the rules leave alone stays alone
    assert names([matching("linear", "x", origin="g")], rules) == ["rules/norm"]


def test_larger_matches_come_first_and_equal_ones_once() -> None:
    rules = [matching("one", "ab"), matching("two", "cd")]
    gallery = [
        matching("small", "ab", origin="g"),
        matching("again", "ab", origin="h"),
        matching("large", "abcd", origin="g"),
    ]
    assert names(gallery, rules) == ["g/large"]
    assert names(gallery[:2], rules) == ["g/small", "rules/two"]


def test_what_rules_wrote_for_another_model_has_to_replace_more() -> None:
    rules = [matching("one", "ab")]
    assert names([matching("same", "ab", origin="task", author=RULES)], rules) == ["rules/one"]
    assert names([matching("more", "abc", origin="task", author=RULES)], rules) == ["task/more"]


def test_matches_in_other_graphs_are_apart() -> None:
    found = FoundBundle("d", (FoundPass("p", ((), (("a", "b"),))), FoundPass("q", ((), ()))))
    bundle = Bundle((PassFile("p.py", ""), PassFile("q.py", "")), author="reference")
    (only,) = candidates(found, bundle, "g")
    assert only.matches == ((1, frozenset("ab")),)
    assert [each.name for each in only.bundle.passes] == ["p.py"]
    rules = [matching("norm", "ab")]
    assert names([only], rules) == ["rules/norm"]


def test_the_passes_of_the_bundle_are_known_by_the_names_that_they_get_in_it() -> None:
    bundle, by_name = together([matching("norm", "ab", origin="g"), matching("norm", "cd")])
    assert [each.name for each in bundle.passes] == ["norm.py", "norm_1.py"]
    assert {name: each.origin for name, each in by_name.items()} == {"norm": "g", "norm_1": RULES}
