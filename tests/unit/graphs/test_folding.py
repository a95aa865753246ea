from passnet_core.graphs.folding import chains, window
from passnet_core.graphs.ir import Ref
from passnet_core.graphs.source import parse_function


def test_a_large_graph_is_shown_as_a_window() -> None:
    lines = "".join(f"    v{index + 1} = torch.exp(v{index}) + w\n" for index in range(300))
    graph = parse_function(f"def f(w, v0):\n{lines}    return (v300, v7)\n", "f")
    seen, sentence = window(graph, 100, around=["v200"])
    assert len(seen.operations) == 100
    assert "v200" in seen.by_name
    assert "600 operations. Shown are operations 390 to 489, " in sentence
    seen.check()
    assert seen.inputs[0].name == "w"
    assert seen.result == (Ref(seen.nodes[-1].name),)
    assert window(graph) == (graph, "")
    first, sentence = window(graph, 200)
    assert first.operations[0] == graph.operations[0]
    assert "operations 1 to 200, " in sentence


def test_a_chain_ends_at_a_second_reader_or_operand() -> None:
    graph = parse_function(
        "def f(x, w):\n"
        "    a = torch.exp(x)\n"
        "    b = torch.nn.functional.linear(a, w)\n"
        "    c = torch.relu(b)\n"
        "    d = torch.relu(c)\n"
        "    e = c + d\n"
        "    g = torch.exp(e)\n"
        "    return (g, torch.abs(g))\n",
        "f",
    )
    found = chains(graph, shortest=2)
    assert [each.names for each in found] == [("a", "b", "c"), ("e", "g")]
    assert found[0].operators == ("exp", "linear", "relu")
    assert chains(graph) == ()


def test_chains_of_the_same_operators_are_alike() -> None:
    block = ("exp", "sin", "cos", "tanh", "relu")
    lines, value = [], "x"
    for number in range(3):
        for step in block:
            lines.append(f"    {step}_{number} = torch.{step}({value})\n")
            value = f"{step}_{number}"
        lines.append(f"    s_{number} = {value} + x\n")
        value = f"s_{number}"
    graph = parse_function(f"def f(x):\n{''.join(lines)}    return ({value}, s_0, s_1)\n", "f")
    found = chains(graph, apart=["s_0", "s_1", "s_2"])
    assert [each.alike for each in found] == [3, 3, 3]
    assert all(each.operators == block for each in found)
